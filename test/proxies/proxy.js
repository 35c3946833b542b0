'use strict'
// A real nginx, HAProxy or Envoy with its file of examples/proxies/, in front of two instances of a service.
// Only ports are changed. nginx and HAProxy are Debian packages. Envoy runs where there is one: in the PATH,
// or at the path in ENVOY.

const { execFileSync, spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { text } = require('node:stream/consumers')
const { freePort } = require('../support/prometheus')
const { serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')

const EXAMPLES = path.join(__dirname, '../../examples/proxies')
/** Debian puts both where a user's PATH does not look. */
const PATH = `${process.env.PATH}:/usr/sbin`
const AGAIN_MS = 20

const example = (name) => fs.readFileSync(path.join(EXAMPLES, name), 'utf8')

/**
 * A configuration with other ports: of the proxy, and of the two instances.
 *
 * @param {number[]} ports
 * @param {string} separator
 */
const withPorts = (configuration, ports, separator = '127.0.0.1:') =>
  [8080, 3001, 3002].reduce((written, port, index) => {
    if (!written.includes(`${separator}${port}`)) throw new Error(`no port ${port} in the example`)
    return written.replace(`${separator}${port}`, `${separator}${ports[index]}`)
  }, configuration)

const PROXIES = {
  nginx: {
    program: 'nginx',
    file: 'nginx.conf',
    args: (file, folder) => ['-c', file, '-p', folder, '-e', 'stderr'],
    /** What Debian's nginx.conf has around a file of conf.d. */
    write: (configuration, ports, folder) => `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr;
events { worker_connections 1024; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((of) => `${of}_temp_path ${folder}/${of};`).join(' ')}
  ${withPorts(configuration, ports)}
}
`,
  },
  haproxy: {
    program: 'haproxy',
    file: 'haproxy.cfg',
    args: (file) => ['-q', '-db', '-f', file],
    write: (configuration, ports) => withPorts(configuration, ports),
  },
  envoy: {
    program: process.env.ENVOY ?? 'envoy',
    file: 'envoy.yaml',
    args: (file) => ['-c', file, '--log-level', 'error', '--concurrency', '1', '--use-dynamic-base-id'],
    write: (configuration, ports) =>
      withPorts(configuration, ports, 'address: 127.0.0.1, port_value: ').replaceAll('\t', '  '),
  },
}

/** Whether it has to be here. Debian has no Envoy. */
const isMissing = (name) => {
  if (name !== 'envoy') return false
  try {
    execFileSync(PROXIES[name].program, ['--version'], { stdio: 'ignore', env: { ...process.env, PATH } })
    return false
  } catch {
    return 'there is no envoy'
  }
}

/**
 * Asks on a new connection, or on those of the agent.
 *
 * @returns {Promise<{ status: number, headers: any, body: string }>}
 */
async function ask(port, method = 'GET', { headers = {}, path: url = '/', agent = false } = {}) {
  const req = http.request({
    host: '127.0.0.1',
    port,
    method,
    path: url,
    headers,
    agent: /** @type {any} */ (agent),
  })
  req.end(method === 'POST' ? 'work' : undefined)
  const [res] = await once(req, 'response')
  return { status: res.statusCode, headers: res.headers, body: await text(res) }
}

/**
 * A proxy in front of these ports, which ends with the test.
 *
 * @param {import('node:test').TestContext} t
 * @param {string} name
 * @param {number[]} services
 * @param {(configuration: string) => string} [edit] of the example
 */
async function startProxy(t, name, services, edit = (configuration) => configuration) {
  const { program, file, args, write } = PROXIES[name]
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `spillway-${name}-`))
  const port = await freePort()
  const written = path.join(folder, file)
  fs.writeFileSync(written, write(edit(example(file)), [port, ...services], folder))
  const child = spawn(program, args(written, folder), {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, PATH },
  })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (piece) => (log += piece))
  const ended = once(child, 'close')
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
    fs.rmSync(folder, { recursive: true, force: true })
  })
  // No event says that the proxy is ready, so this asks until every instance has answered through it.
  const seen = new Set()
  while (seen.size < new Set(services).size) {
    if (child.exitCode !== null) throw new Error(`${name} has ended: ${log}`)
    const { headers } = await ask(port).catch(() => ({ headers: {} }))
    if (headers['x-instance'] !== undefined) seen.add(headers['x-instance'])
    else await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
  }
  return { port, ask: (method, options) => ask(port, method, options), log: () => log }
}

/**
 * An instance of the service: it answers with its name and the headers of the request. `hold()` keeps it at
 * its one request.
 *
 * @param {import('node:test').TestContext} t
 * @param {string} name
 * @param {object} [shed]
 */
async function startInstance(t, name, shed) {
  const spillway = spillwayFor(t, { shed })
  /** @type {(() => void)[]} */
  const held = []
  let requests = 0
  const { port, server } = await serve(t, (req, res) => {
    requests++
    res.setHeader('X-Instance', name)
    const answer = () => res.end(JSON.stringify(req.headers))
    if (req.url === '/held') {
      held.push(answer)
      server.emit('held', req)
    } else answer()
  })
  spillway.attach(server, { behindProxy: true })
  const shedCount = () => spillway.snapshot().admission.shed.reduce((sum, { count }) => sum + count, 0)
  return {
    spillway,
    server,
    port,
    shedCount,
    requests: () => requests,
    async hold() {
      const answered = ask(port, 'GET', { path: '/held' })
      await once(server, 'held')
      return async () => {
        for (const answer of held.splice(0)) answer()
        await answered
      }
    },
  }
}

module.exports = { PROXIES, ask, isMissing, startInstance, startProxy }
