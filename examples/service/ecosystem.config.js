'use strict'
// PM2: `pm2 start ecosystem.config.js`, and `pm2 reload shop` replaces the workers one by one without losing a request.

module.exports = {
  apps: [
    {
      name: 'shop',
      script: 'server.js',
      exec_mode: 'cluster',
      instances: 'max',
      // spillway tells PM2 when the server listens, and the old worker is kept until then.
      wait_ready: true,
      listen_timeout: 30_000,
      // PM2 kills after 1.6 s otherwise, which is less than a drain may take.
      kill_timeout: 25_000,
      env: { NODE_ENV: 'production' },
    },
  ],
}
