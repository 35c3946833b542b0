'use strict'
// The pages of the admin server, by path. No page shows a header, cookie, query, body or URL of a client. A
// snapshot of 1000 routes takes tens of milliseconds. So a snapshot is made at most once a second, and making
// snapshots takes at most a twentieth of the time.

const { randomUUID } = require('node:crypto')
const { describeOptions } = require('./config')
const { doctorPage } = require('./doctor-page')
const { JSON_TYPE, dataHandler, readOnly } = require('../../core/http/endpoints')
const { heapSnapshotPage } = require('./heap-snapshot-page')
const { asksForPage, livePage } = require('./live-page')
const { LiveState, LiveStream } = require('./live-stream')
const { PauseRest } = require('../profiles/pause-rest')
const { profilePages } = require('./profile-pages')
const { reportPages } = require('./report-pages')
const { workerPages } = require('./worker-pages')
const { urlPath } = require('../../core/url-path')
const { sendText } = require('./profile-answers')

/**
 * @import { Diagnosis, FleetSnapshot, Handler } from '../../../index.js'
 * @import { HandlerName, ResolvedOptions, RunTotals, Snapshot } from '../../../index.js'
 * @import { Clock } from '../../core/clock'
 * @import { InternalErrors } from '../../core/errors/internal-errors'
 * @import { Profiles } from '../profiles/profiles'
 * @import { History } from './history'
 * @import { LatencyHeat } from './latency-heat'
 */

const SNAPSHOT_MS = 1000
const UNKNOWN_ROUTE =
  'There is no such route. Give ?method=GET&route=/users/:id, with method and route as in /snapshot.'

const ABOUT = {
  '/': 'the live page for a browser, else this list',
  '/metrics': 'Prometheus text, OpenMetrics or protobuf, by Accept',
  '/snapshot': 'the current snapshot as JSON, made at most once a second',
  '/live': 'the last ten minutes, then a point a second, as lines of JSON',
  '/routes/heat':
    '?method=GET&route=/users/:id gives the latencies of a route over the last ten minutes, by ten seconds',
  '/report': '?from=&to= gives a report of the last ten minutes, one HTML file to keep',
  '/totals': 'counters and latencies since the start, which reports are made from',
  '/doctor': 'what is wrong with this process, over the last minute: JSON, or text by Accept',
  '/livez': '200 while the event loop runs',
  '/readyz': '200 while the process is ready for traffic, else 503',
  '/releases': 'this release compared with the previous one',
  '/config': 'the options in force',
  '/profile':
    'POST ?seconds=10 takes a CPU profile, with ?worker=NAME of another worker; GET says what it costs',
  '/heap':
    'POST ?seconds=60 shows what was allocated and is still in memory, with ?worker=NAME; GET says what it costs',
  '/heap-snapshot': 'POST ?confirm=yes takes a whole heap snapshot; GET says what it costs',
}

/** Access to the pages that change something. */
const ACCESS = {
  /** Paths that take POST. */
  posts: new Set(['/profile', '/heap', '/heap-snapshot']),
  /** Paths whose answer to POST shows secrets. Only a client with a token may see them. */
  secrets: new Set(['/heap-snapshot']),
  /** Whether the answer has no data, and so needs no token. */
  isPublic: asksForPage,
}

const INDEX = `spillway\n\n${Object.entries(ABOUT)
  .map(([path, about]) => `${path.padEnd(16)}${about}\n`)
  .join('')}`

/**
 * @param {{ handlers: Record<HandlerName, Handler>, clock: Clock,
 *   takeSnapshot: () => Snapshot, takeTotals: (instance: string) => RunTotals,
 *   diagnose: () => Diagnosis,
 *   fleet: { isMember: boolean, snapshot: () => Promise<FleetSnapshot>,
 *     find: Parameters<typeof workerPages>[1] }, optionsNow: () => ResolvedOptions,
 *   history: History,
 *   profiles: Profiles,
 *   internalErrors: InternalErrors }} deps
 * @returns {{ pages: Map<string, Handler>, memberPages: Map<string, Handler>, liveStream: LiveStream }}
 */
function adminPages(deps) {
  const { handlers, clock, takeSnapshot, diagnose, fleet, optionsNow, internalErrors } = deps
  const { metrics, live, ready } = handlers
  /** @type {Snapshot} */
  let snapshot
  let takenMs = Number.NEGATIVE_INFINITY
  const rest = new PauseRest(clock)
  const recentSnapshot = () => {
    const nowMs = clock.now()
    if (nowMs - takenMs < SNAPSHOT_MS || rest.leftMs > 0) return snapshot
    takenMs = nowMs
    snapshot = rest.pausing(takeSnapshot)
    return snapshot
  }
  /** The JSON text of the snapshot. It is made once per snapshot, because it takes 10 ms for 1000 routes. */
  let text = Buffer.alloc(0)
  /** @type {Snapshot | undefined} */
  let written
  const snapshotText = () => {
    if (written !== recentSnapshot()) {
      written = snapshot
      text = rest.pausing(() => Buffer.from(JSON.stringify(snapshot)))
    }
    return text
  }
  /** @param {() => unknown} makeValue */
  const json = (makeValue) => dataHandler(JSON_TYPE, () => JSON.stringify(makeValue()))
  const takeFleetSnapshot = () => (fleet.isMember ? fleet.snapshot() : undefined)
  // Distinguishes this process from the next one at its address. The next may have the same pid, and a start
  // time is not reliable because wall clocks are adjusted.
  const instance = randomUUID()
  const state = new LiveState({ ...deps, instance, takeSnapshot: recentSnapshot, takeFleetSnapshot })
  const liveStream = new LiveStream({ ...deps, state })
  const ofWorker = { ...profilePages(deps), '/heap-snapshot': heapSnapshotPage(deps) }
  const pages = new Map(
    Object.entries({
      '/': livePage(INDEX, internalErrors),
      '/metrics': metrics,
      '/snapshot': dataHandler(JSON_TYPE, snapshotText),
      '/live': liveStream.handler,
      '/routes/heat': heatPage(deps.history.heat),
      ...reportPages({ ...deps, takeTotals: () => deps.takeTotals(instance), takeFleetSnapshot }),
      '/doctor': doctorPage(diagnose),
      '/livez': live,
      '/readyz': ready,
      '/releases': json(() => recentSnapshot().releases),
      '/config': json(() => describeOptions(optionsNow())),
      ...workerPages(ofWorker, (name) => fleet.find(name)),
    })
  )
  return { pages, memberPages: new Map(Object.entries(ofWorker)), liveStream }
}

/**
 * `/routes/heat`: the latencies of one route over the last ten minutes. The live page asks for the heat map
 * only while the route is open. So routes that nobody looks at cost nothing.
 *
 * @param {LatencyHeat} heat
 * @returns {Handler}
 */
function heatPage(heat) {
  return readOnly((req, res) => {
    const { url = '' } = req
    const query = new URLSearchParams(url.slice(urlPath(url).length))
    const map = heat.read(query.get('method'), query.get('route'))
    if (map === undefined) return sendText(res, { status: 404, text: UNKNOWN_ROUTE })
    return dataHandler(JSON_TYPE, () => JSON.stringify(map))(req, res)
  })
}

module.exports = { ACCESS, adminPages }
