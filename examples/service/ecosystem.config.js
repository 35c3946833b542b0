'use strict'
// Runs the service under PM2: `pm2 start ecosystem.config.js`. `pm2 reload shop` replaces the workers one by
// one without losing a request.

module.exports = {
  apps: [
    {
      name: 'shop',
      script: 'server.js',
      exec_mode: 'cluster',
      instances: 'max',
      // spillway reports to PM2 that the server listens. PM2 keeps the old worker until then.
      wait_ready: true,
      listen_timeout: 30_000,
      // By default PM2 kills the process after 1.6 s. A drain may take longer.
      kill_timeout: 25_000,
      env: { NODE_ENV: 'production' },
    },
  ],
}
