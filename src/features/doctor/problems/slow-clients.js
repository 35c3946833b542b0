'use strict'
// Clients read their answer or send their request so slowly that it stays in memory. The causes are slow
// networks, a proxy without buffers, or an attack. The process itself is not slow.
// - Found if five such clients have taken five seconds or more, and are a fifth of the requests in flight. A
//   phone in a tunnel is only one client in a hundred.
// - Severity high if the data that they have not read is a tenth of the memory.

const { bytes, counted, duration } = require('../../../core/readable')
const { evidence } = require('../evidence')

const FEWEST = 5
const SHARE = 0.2
const MUCH_MEMORY = 0.1

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'slow-clients',
  // Their answers wait outside the heap.
  explains: ({ heap, memory }) =>
    memory.externalTrend.verdict === 'growing' && heap.trend.verdict !== 'growing' ? ['heap-growing'] : [],
  find({ clients, memory }) {
    const { inFlight, oldestMs, reading, sending, unsentBytes } = clients
    const count = reading + sending
    if (count < FEWEST || count < SHARE * inFlight) return []
    const isReading = reading >= sending
    return [
      {
        severity: unsentBytes >= MUCH_MEMORY * memory.limitBytes ? 'high' : 'medium',
        share: Math.min(1, count / inFlight),
        route: null,
        summary: `${counted(count, 'client')} ${isReading ? `read their answers slowly. ${bytes(unsentBytes)} are not read yet` : 'send their requests slowly'}. The oldest of these requests is ${duration(oldestMs)} old.`,
        evidence: [
          evidence('clients that read slowly', reading, 'requests'),
          evidence('clients that send slowly', sending, 'requests'),
          evidence('unread', unsentBytes, 'bytes'),
          evidence('oldest', oldestMs / 1000, 's'),
          evidence('in flight', inFlight, 'requests'),
        ],
        advice:
          'Put a proxy with buffers in front of the process (nginx: `proxy_buffering`, `proxy_request_buffering`). Stream large answers with `pipeline()`, so that they wait in the source and not in memory. Set `server.requestTimeout`.',
      },
    ]
  },
}

module.exports = rule
