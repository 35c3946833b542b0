'use strict'
// The nginx of the story, with one configuration for both acts.
// - It passes on 60 requests a second, as one does against storms. 30 more wait in its queue, and others get
//   429.
// - It waits 1.5 s for an answer. Then it asks the other front, and at last answers 504.
// - It does not ask a front for two seconds after eight failures. While neither may be asked, it answers 502.
// - `set` reads the time of arrival. In `proxy_set_header`, `$msec` would be the time at which the queue was
//   left.

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: delay } = require('node:timers/promises')
const { freePort, programOf } = require('../../../bench/gateways/proxies')

const HOST = '127.0.0.1'
const TIMEOUT_MS = 1500
/** The timeout that nginx passes to the front. It is shorter, so that an answer at the last moment arrives. */
const TOLD_MS = 1000
const START_MS = 5000
const LOOK_MS = 20

const configuration = ({ folder, fronts, port }) => `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr emerg;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  limit_req_status 429;
  limit_req_zone $server_addr zone=shop:64k rate=60r/s;
  upstream front {
${fronts.map((front) => `    server ${HOST}:${front} max_fails=8 fail_timeout=2s;`).join('\n')}
    keepalive 64;
  }
  server {
    listen ${HOST}:${port} backlog=1024;
    set $arrived $msec;
    location / {
      limit_req zone=shop burst=30;
      proxy_pass http://front;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Request-Start "t=$arrived";
      proxy_set_header X-Request-Timeout-Ms ${TOLD_MS};
      proxy_read_timeout ${TIMEOUT_MS}ms;
    }
    location = /nginx { stub_status; }
  }
}
`

/** Starts nginx, which ends with this process. @param {number[]} fronts their ports @returns {Promise<string>} its URL */
async function startNginx(fronts) {
  const port = await freePort()
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-story-nginx-'))
  const file = path.join(folder, 'nginx.conf')
  fs.writeFileSync(file, configuration({ folder, fronts, port }))
  const args = ['-c', file, '-p', folder, '-e', 'stderr']
  const child = spawn(String(programOf('nginx')), args, { stdio: ['ignore', 'ignore', 'inherit'] })
  process.once('exit', () => {
    child.kill('SIGKILL')
    fs.rmSync(folder, { recursive: true, force: true })
  })
  const url = `http://${HOST}:${port}`
  for (let waitedMs = 0; !(await answers(`${url}/nginx`)); waitedMs += LOOK_MS) {
    if (child.exitCode !== null || waitedMs > START_MS) throw new Error('nginx does not start.')
    await delay(LOOK_MS)
  }
  return url
}

const answers = (url) =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false
  )

module.exports = { startNginx }
