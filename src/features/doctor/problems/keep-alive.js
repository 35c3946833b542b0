'use strict'
// A proxy keeps connections to this process for longer than the process does. The process closes one just
// when the proxy sends a request on it, and the client gets 502. Nothing in the process sees that request.
// - An attached server must have closed such connections: each close can lose a request. The timeout alone
//   proves nothing, because this process does not know for how long the proxy keeps a connection.
// - At least a fifth of the requests: some clients have proxies of their own, and probes come without one.
// - At least five requests: one a second is sampled.

const { counted, duration } = require('../../../core/readable')
const { evidence } = require('../evidence')

const FEWEST = 5
const SHARE = 0.2

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'keep-alive',
  find({ proxies }) {
    const { idleCloses, keptMs, kept, looked, proxied, unusedCloses } = proxies
    if (kept < FEWEST || proxied < SHARE * looked) return []
    if (idleCloses + unusedCloses === 0) return []
    return [
      {
        severity: 'medium',
        share: kept / looked,
        route: null,
        summary: `${summaryOf(proxies)}. A request that a proxy sends on such a connection at the moment of the close gets 502.`,
        evidence: [
          evidence('connections closed after a request', idleCloses, 'connections'),
          evidence('connections closed before a first request', unusedCloses, 'connections'),
          evidence('requests through a proxy on a kept connection', kept, 'requests'),
          evidence('requests looked at', looked, 'requests'),
          ...(keptMs > 0 ? [evidence('an idle connection is closed after', keptMs / 1000, 's')] : []),
        ],
        advice: ADVICE,
      },
    ]
  },
}

/** @param {import('../figures').Figures['proxies']} proxies */
function summaryOf({ idleCloses, keptMs, unusedCloses }) {
  if (idleCloses > 0)
    return `This process closed ${counted(idleCloses, 'idle connection')}${keptMs > 0 ? `, each ${duration(keptMs)} after its last request,` : ''} while proxies keep them`
  return `This process closed ${counted(unusedCloses, 'connection')} that carried no request yet, while proxies keep them`
}

const ADVICE =
  'Let the proxy close first. Where only proxies connect, write `spillway.attach(server, { behindProxy: true })`, or without `attach` `Object.assign(server, { keepAliveTimeout: 3_605_000, headersTimeout: 3_605_000, requestTimeout: 3_605_000 })`. Or shorten the keep-alive timeout of the proxy, such as `keepalive_timeout 4s` in the upstream of nginx.'

module.exports = rule
