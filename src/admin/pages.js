'use strict'
// What the admin server shows, path by path. Nothing of it is a client's: no header, cookie, query, body or URL is
// kept anywhere it could come from. A snapshot of a thousand routes takes tens of milliseconds, so one is made a second.

const { describeOptions } = require('./config')
const { JSON_TYPE, dataHandler } = require('./endpoints')

const SNAPSHOT_MS = 1000

const ABOUT = {
  '/': 'this list',
  '/metrics': 'Prometheus text, OpenMetrics or protobuf, by Accept',
  '/snapshot': 'everything known now, as JSON; made at most once a second',
  '/livez': '200 while the event loop turns',
  '/readyz': '200 while traffic may come, else 503',
  '/releases': 'this release beside the one before it',
  '/config': 'the options in force',
}

const INDEX = `spillway\n\n${Object.entries(ABOUT)
  .map(([path, about]) => `${path.padEnd(12)}${about}\n`)
  .join('')}`

/**
 * @param {{ handlers: Record<import('../../index.js').HandlerName, (req: any, res: any) => void>, clock: any,
 *   takeSnapshot: () => import('../../index.js').Snapshot, optionsNow: () => object }} parts
 */
function adminPages({ handlers: { metrics, live, ready }, clock, takeSnapshot, optionsNow }) {
  let snapshot
  let takenMs = Number.NEGATIVE_INFINITY
  const recent = () => {
    const nowMs = clock.now()
    if (nowMs - takenMs < SNAPSHOT_MS) return snapshot
    takenMs = nowMs
    snapshot = takeSnapshot()
    return snapshot
  }
  const json = (take) => dataHandler(JSON_TYPE, () => JSON.stringify(take()))
  return new Map(
    Object.entries({
      '/': dataHandler('text/plain; charset=utf-8', () => INDEX),
      '/metrics': metrics,
      '/snapshot': json(recent),
      '/livez': live,
      '/readyz': ready,
      '/releases': json(() => recent().releases),
      '/config': json(() => describeOptions(optionsNow())),
    })
  )
}

module.exports = { adminPages }
