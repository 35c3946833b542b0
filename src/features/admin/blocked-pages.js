'use strict'
// The admin server of the thread that watches the loop (features/stalls), which runs in that thread. It
// answers while the loop is blocked and nothing else of the process answers. It shows what the loop last
// published, and which code blocks the loop now.

const { JSON_TYPE, dataHandler, readOnly } = require('../../core/http/endpoints')
const { duration } = require('../../core/readable')
const { urlPath } = require('../../core/url-path')
const { doctorPage } = require('./doctor-page')
const { AdminServer } = require('./server')

/**
 * @import { AdminAddress, Diagnosis, Handler, Snapshot, StallSite } from '../../../index.js'
 * @import { Clock } from '../../core/clock'
 * @import { ResolvedListenOptions } from './server'
 *
 * @typedef {Pick<StallSite, 'function' | 'file' | 'line' | 'frames' | 'method' | 'route'>} Described the code
 *   that blocks the loop
 * @typedef {{ described?: Described | undefined, asleepIn: string, isIntended: boolean }} Now what the blocked
 *   thread does. `isIntended`: a debugger or a heap snapshot blocks it
 * @typedef {{ atMs: number, diagnosis: Diagnosis, snapshot: Snapshot, metrics: { contentType: string,
 *   text: string } }} Published
 * @typedef {{ blockedMs(): number, describe(): Promise<Now>,
 *   clock: Clock }} Watched the watching thread
 */

const INDEX = `spillway, from the thread that watches the event loop

/livez          200, and 503 once the loop has been blocked for insight.hangAfter
/doctor         what blocks the loop now, and the findings from before: JSON, or text by Accept
/stalls         what blocks the loop now, and the stalls as last reported
/snapshot       the snapshot as last reported; the header Age says how old it is
/metrics        the metrics as last reported; the header Age says how old they are
`
/** A shorter block is not a finding. */
const FINDING_MS = 1000
/** @type {typeof import('./pages').ACCESS} */
const ACCESS = {
  posts: new Set(),
  secrets: new Set(),
  isPublic: ({ url }) => urlPath(/** @type {string} */ (url)) === '/livez',
}

/**
 * @param {{ options: ResolvedListenOptions, hangAfterMs: number }} given
 * @param {Watched} watched
 * @returns {{ listening: Promise<AdminAddress>, publish(published: Published): void }}
 */
function serveBlocked({ options, hangAfterMs }, { blockedMs, describe, clock }) {
  /** @type {Published | undefined} */
  let last
  /** @type {Diagnosis} */
  let current
  const wrote = doctorPage(() => current)
  const lastTold = (/** @type {(told: Published) => Published['metrics']} */ read) =>
    readOnly((_req, res) => {
      if (last === undefined) {
        res.writeHead(503, { 'Retry-After': 10 })
        return res.end('The process has reported nothing yet.')
      }
      const { contentType, text } = read(last)
      const age = Math.max(0, Math.round((clock.wallMs() - last.atMs) / 1000))
      res.writeHead(200, { 'Content-Type': contentType, Age: age })
      res.end(text)
    })
  const pages = new Map(
    Object.entries({
      '/': dataHandler('text/plain; charset=utf-8', () => INDEX),
      '/livez': readOnly(async (_req, res) => {
        const ms = blockedMs()
        const isHung = hangAfterMs > 0 && ms >= hangAfterMs && !(await describe()).isIntended
        const body = JSON.stringify({ status: isHung ? 'blocked' : 'ok', blockedMs: Math.round(ms) })
        res.writeHead(isHung ? 503 : 200, { 'Content-Type': JSON_TYPE })
        res.end(body)
      }),
      '/doctor': /** @type {Handler} */ (
        async (req, res) => {
          const ms = blockedMs()
          current = diagnosisOf(ms, ms >= FINDING_MS ? await describe() : undefined, last, clock.wallMs())
          wrote(req, res)
        }
      ),
      '/stalls': /** @type {Handler} */ (
        async (req, res) => {
          const ms = blockedMs()
          const { described, asleepIn } = ms === 0 ? { described: undefined, asleepIn: '' } : await describe()
          const blocked = ms === 0 ? null : { blockedMs: Math.round(ms), ...(described ?? { asleepIn }) }
          const told =
            last === undefined ? null : { ageMs: clock.wallMs() - last.atMs, ...last.snapshot.stalls }
          dataHandler(JSON_TYPE, () => JSON.stringify({ blocked, told }))(req, res)
        }
      ),
      '/snapshot': lastTold(({ snapshot }) => ({ contentType: JSON_TYPE, text: JSON.stringify(snapshot) })),
      '/metrics': lastTold(({ metrics }) => metrics),
    })
  )
  const internalErrors = /** @type {import('../../core/errors/internal-errors').InternalErrors} */ (
    /** @type {unknown} */ ({ report() {} })
  )
  const server = new AdminServer({ pages, access: ACCESS, clock, internalErrors })
  return {
    listening: server.listen(options),
    publish: (published) => {
      last = published
    },
  }
}

/** @param {Now} now */
function adviceOf({ described, isIntended }) {
  if (isIntended)
    return 'Nothing to do: the block ends with the debugger or the heap snapshot that caused it.'
  const code =
    described === undefined
      ? 'When the block ends, the log line of the stall names the function. Replace the synchronous call in it by an asynchronous one.'
      : 'Fix that code: bound its input, or move it to a worker thread.'
  return `Restart the process if the block does not end: no request is answered until then. ${code}`
}

/**
 * @param {number} blockedMs
 * @param {Now | undefined} now undefined while the loop runs
 * @param {Published | undefined} last
 * @param {number} wallMs
 * @returns {Diagnosis}
 */
function diagnosisOf(blockedMs, now, last, wallMs) {
  const at = new Date(wallMs).toISOString()
  const before = last?.diagnosis ?? {
    seconds: 0,
    requests: 0,
    healthy: null,
    summary: 'The event loop is running, but the process has reported nothing yet.',
    findings: [],
  }
  if (now === undefined) return { ...before, at }
  const { described, asleepIn } = now
  const route = described?.route == null ? null : `${described.method} ${described.route}`
  const place =
    described === undefined ? asleepIn : `in ${described.function} (${described.file}:${described.line})`
  const since = duration(blockedMs)
  const summary =
    route === null
      ? `The event loop has been blocked for ${since} and still is, ${place}: no request is answered.`
      : `${route} has blocked the event loop for ${since} and still does, ${place}: no request is answered.`
  /** @type {Diagnosis['findings'][number]} */
  const finding = {
    problem: 'event-loop-blocked',
    severity: 'high',
    share: 1,
    route,
    summary,
    evidence: [
      { name: 'blocked until now', value: blockedMs, unit: 'ms' },
      { name: 'memory', value: process.memoryUsage.rss(), unit: 'bytes' },
    ],
    advice: adviceOf(now),
    effectOf: null,
    more: 'docs/stalls.md#while-the-loop-is-blocked',
  }
  return { ...before, at, blockedMs, healthy: false, summary, findings: [finding, ...before.findings] }
}

module.exports = { serveBlocked }
