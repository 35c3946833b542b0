'use strict'
// How connections come to the server that bench/overload overloads: to a plain server, over TLS, or to the one worker
// of a cluster that is handed them (round robin), accepts them from the primary's socket (SCHED_NONE) or from its own
// (reusePort). The primary has what the load leaves of its core; or it shares its worker's, as where all cores have
// workers, and what handing over costs is paid there too.

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

/** P-256, as certificates mostly are now; each server has a new one. */
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

/** Whether another socket may have the same port; Node without it takes no notice of the option. */
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

/** Stands between its worker and the benchmark, and tells what it used itself of which core. */
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
