'use strict'
// A proxy keeps connections to this process for longer than the process does. If the process closes a
// connection just when the proxy sends a request on it, the client gets 502. Nothing in the process sees that
// request.
// - Found only if an attached server has closed such connections, because each close can lose a request. The
//   timeout alone proves nothing: this process does not know for how long the proxy keeps a connection.
// - At least a fifth of the sampled requests must come through a proxy. Some clients have their own proxies,
//   and probes come without one.
// - At least five sampled requests must come on kept connections. One request a second is sampled.

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
          evidence('requests sampled', looked, 'requests'),
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
    return `This process closed ${counted(idleCloses, 'idle connection')} that proxies keep${keptMs > 0 ? `, ${duration(keptMs)} after the last request of each` : ''}`
  return `This process closed ${counted(unusedCloses, 'connection')} that proxies keep, before the first request of each`
}

const ADVICE =
  'Let the proxy close first. Where only proxies connect, write `spillway.attach(server, { behindProxy: true })`, or without `attach` `Object.assign(server, { keepAliveTimeout: 3_605_000, headersTimeout: 3_605_000, requestTimeout: 3_605_000 })`. Or shorten the keep-alive timeout of the proxy, such as `keepalive_timeout 4s` in the upstream of nginx.'

module.exports = rule
