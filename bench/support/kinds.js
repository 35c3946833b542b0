'use strict'
// The kinds of servers, by how connections come to them: to a plain server, over TLS, or to the only worker
// of a cluster. The primary hands them to the worker (round robin), or the worker accepts them from the
// primary's socket (SCHED_NONE) or from its own (reusePort). The primary runs on the load's core, or on its
// worker's core, as on a machine whose cores all have workers.

const { spawnSync } = require('node:child_process')
const cluster = require('node:cluster')
const { once } = require('node:events')
const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const { moveToLoadCore } = require('./pinned')

const KINDS = {
  plain: {},
  https: { secure: true },
  'sched-none': { policy: cluster.SCHED_NONE },
  'round-robin': { policy: cluster.SCHED_RR },
  'round-robin-shared': { policy: cluster.SCHED_RR, sharesCore: true },
  'reuse-port': { policy: cluster.SCHED_RR, reusePort: true },
}

/** P-256, as most certificates have. Each server has a new certificate. */
function certificate() {
  const { stdout, status } = spawnSync(
    'openssl',
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost -keyout - -out -'.split(
      ' '
    )
  )
  if (status !== 0) throw new Error('for https the openssl command is needed')
  return { key: stdout, cert: stdout }
}

const createServer = (kind) => (KINDS[kind].secure ? https.createServer(certificate()) : http.createServer())

/** Whether another socket may have the same port. A Node without the option ignores it. */
async function canReusePort() {
  const servers = [net.createServer(), net.createServer()]
  const listen = (server, port) => {
    server.listen({ port, host: '127.0.0.1', reusePort: true })
    return once(server, 'listening')
  }
  try {
    await listen(servers[0], 0)
    await listen(servers[1], /** @type {net.AddressInfo} */ (servers[0].address()).port)
    return true
  } catch {
    return false
  } finally {
    for (const server of servers) server.close()
  }
}

/** Whether this process is only the primary of the one that serves. */
const isPrimaryOf = (kind) => KINDS[kind].policy !== undefined && cluster.isPrimary

/** Passes messages between its worker and the bench, and adds its own CPU time for the core that it used. */
function runPrimary(kind) {
  const { policy, sharesCore = false } = KINDS[kind]
  cluster.schedulingPolicy = policy
  const worker = cluster.fork()
  if (!sharesCore) moveToLoadCore()
  worker.on('message', (told) => {
    const { user, system } = process.cpuUsage()
    const primaryMs = (user + system) / 1000
    if (told.cpuMs === undefined) process.send?.(told)
    else if (!sharesCore) process.send?.({ ...told, besideLoadMs: primaryMs })
    else process.send?.({ ...told, cpuMs: told.cpuMs + primaryMs, foreignMs: told.foreignMs - primaryMs })
  })
  worker.on('exit', (code) => process.exit(code ?? 0))
  process.on('message', (question) => worker.send(question))
  process.on('SIGTERM', () => worker.process.kill('SIGKILL'))
}

module.exports = { KINDS, canReusePort, createServer, isPrimaryOf, runPrimary }
