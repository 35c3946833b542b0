'use strict'
// nginx and HAProxy as gateways of bench/gateways. Each is one process on a free port of 127.0.0.1, with its
// configuration in a temporary folder. nginx keeps at most `connections` idle, and opens as many as there are
// requests. Its queue needs a licence. HAProxy opens at most `connections`. Other requests wait in its queue,
// for the 5 s of Debian's configuration.

const { execFileSync, spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: delay } = require('node:timers/promises')

const HOST = '127.0.0.1'
const MAX_CLIENTS = 8192
const START_MS = 5000
const LOOK_MS = 20

/**
 * @typedef {{ folder: string, port: number, service: number, connections: number, stamps: boolean }} Plan
 *   `stamps`: says when a request came
 */

const PROXIES = {
  nginx: {
    package: 'nginx-light',
    asks: ['-v'],
    args: (file, folder) => ['-c', file, '-p', folder, '-e', 'stderr'],
    /** @param {Plan} plan */
    configuration: ({ folder, port, service, connections, stamps }) => `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr crit;
worker_rlimit_nofile ${4 * MAX_CLIENTS};
events { worker_connections ${2 * MAX_CLIENTS}; }
http {
  access_log off;
  keepalive_requests 1000000;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  upstream service {
    server ${HOST}:${service};
    keepalive ${connections};
  }
  server {
    listen ${HOST}:${port} backlog=4096;
    location / {
      proxy_pass http://service;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      ${stamps ? 'proxy_set_header X-Request-Start "t=$msec";' : ''}
    }
  }
}
`,
  },
  haproxy: {
    package: 'haproxy',
    asks: ['-v'],
    args: (file) => ['-q', '-db', '-f', file],
    /** @param {Plan} plan */
    configuration: ({ port, service, connections, stamps }) => `
global
  maxconn ${MAX_CLIENTS}
  nbthread 1
defaults
  mode http
  option forwardfor
  http-reuse always
  timeout connect 5s
  timeout client 50s
  timeout server 50s
frontend entrance
  bind ${HOST}:${port} backlog 4096
  ${stamps ? 'http-request set-header X-Request-Start t=%[date(0,ms)]' : ''}
  default_backend service
backend service
  server service ${HOST}:${service} maxconn ${connections}
`,
  },
}

/** Where Debian puts them: not in the PATH of every user. */
const FOLDERS = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin']

/** @returns {string | undefined} the path of the program */
function programOf(name) {
  return FOLDERS.map((folder) => path.join(folder, name)).find((file) => {
    try {
      execFileSync(file, PROXIES[name].asks, { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  })
}

async function freePort() {
  const server = net.createServer().listen(0, HOST)
  await once(server, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (server.address())
  server.close()
  await once(server, 'close')
  return port
}

async function accepts(port) {
  const socket = net.connect(port, HOST)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/**
 * @param {string} name of a proxy that is installed
 * @param {{ port?: number, connections?: number, stamps?: boolean, configuration?: (plan: any) => string }}
 *   options the port of the service and the kept connections to it, or a configuration of one's own
 * @returns {Promise<import('../overload/run').Gateway>}
 */
async function startProxy(name, options) {
  const { port: service = 0, connections = 0, stamps = false } = options
  const { configuration = PROXIES[name].configuration } = options
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `spillway-bench-${name}-`))
  const port = await freePort()
  const file = path.join(folder, `${name}.conf`)
  fs.writeFileSync(file, configuration({ folder, port, service, connections, stamps }))
  const program = /** @type {string} */ (programOf(name))
  const child = spawn(program, PROXIES[name].args(file, folder), { stdio: ['ignore', 'ignore', 'inherit'] })
  const exited = once(child, 'exit')
  const end = () => {
    child.kill('SIGKILL')
    fs.rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', end)
  const stop = async () => {
    process.off('exit', end)
    end()
    await exited
  }
  for (let waitedMs = 0; !(await accepts(port)); waitedMs += LOOK_MS) {
    if (child.exitCode !== null || waitedMs > START_MS) {
      await stop()
      throw new Error(`${program} does not start`)
    }
    await delay(LOOK_MS)
  }
  return { port, pid: /** @type {number} */ (child.pid), stop }
}

/** @returns {string | undefined} what to install before `startProxy` can start it */
const missingFor = (name) =>
  programOf(name) === undefined
    ? `there is no ${name} (Debian: apt-get install ${PROXIES[name].package})`
    : undefined

module.exports = { MAX_CLIENTS, PROXIES, freePort, missingFor, programOf, startProxy }
