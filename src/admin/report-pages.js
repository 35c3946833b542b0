'use strict'
// `/totals` and `/report`: what a report of a run is made from, and the report of what the process remembers as one document. Each takes
// at most a twentieth of the time: until then, all get the last one.

const { describeOptions } = require('./config')
const { JSON_TYPE, dataHandler, readOnly } = require('./endpoints')
const { sendText } = require('./profile-answers')
const { loadStyle, makeDocument } = require('./report/document')
const { Sightings } = require('./report/sightings')
const { isZone, reportName } = require('./report/times')
const { makeRun } = require('./report/run')

/** So many times what the last one took. */
const REST = 20

/**
 * @import { Handler, RunTotals } from '../../index.js'
 * @typedef {object} Parts
 * @property {import('../clock').Clock} clock
 * @property {() => RunTotals} takeTotals
 * @property {() => import('../../index.js').Diagnosis} diagnose
 * @property {() => Promise<import('../../index.js').FleetSnapshot> | undefined} takeFleetSnapshot
 * @property {() => object} optionsNow
 * @property {InstanceType<typeof import('../insight/history').History>} history
 * @property {InstanceType<typeof import('../requests/internal-errors').InternalErrors>} internalErrors
 */

/** @param {Parts} parts @returns {Record<string, Handler>} */
function reportPages(parts) {
  const totals = new Rested(parts.clock, () => parts.takeTotals())
  const reports = new Rested(parts.clock, (query) => runOf(new URLSearchParams(query), totals.take(), parts))
  return {
    '/totals': dataHandler(JSON_TYPE, () => JSON.stringify(totals.take())),
    '/report': readOnly((req, res) => {
      answer(req, res, reports, parts).catch((error) => {
        parts.internalErrors.report('report', error)
        res.destroy()
      })
    }),
  }
}

/** Makes a value again when it has rested long enough from making the last. @template Value */
class Rested {
  #clock
  #make
  /** @type {{ key: string, value: Value } | undefined} */
  #last
  #dueMs = Number.NEGATIVE_INFINITY

  /** @param {Pick<import('../clock').Clock, 'now'>} clock @param {(key: string) => Value} make */
  constructor(clock, make) {
    this.#clock = clock
    this.#make = make
  }

  /** Whether it has a value for the key, or may make one. @param {string} key */
  isReady(key) {
    return this.#clock.now() >= this.#dueMs || this.#last?.key === key
  }

  /** @param {string} [key] @returns {Value} */
  take(key = '') {
    const nowMs = this.#clock.now()
    if (this.#last?.key === key && nowMs < this.#dueMs) return this.#last.value
    const value = this.#make(key)
    this.#last = { key, value }
    this.#dueMs = nowMs + REST * (this.#clock.now() - nowMs)
    return value
  }
}

/** @param {Parts} parts */
async function answer(req, res, reports, parts) {
  const query = new URL(req.url, 'http://localhost').search
  const wrong = mistakeIn(new URLSearchParams(query))
  if (wrong !== undefined) return sendText(res, { status: 400, text: wrong })
  const style = await loadStyle()
  const fleet = await parts.takeFleetSnapshot()
  if (!reports.isReady(query)) {
    res.setHeader('Retry-After', '1')
    return sendText(res, { status: 503, text: 'A report was made just now. Ask again in a second.' })
  }
  const run = { ...reports.take(query), workers: fleet?.workers.length ?? 1 }
  const { html, policy } = makeDocument(run, style)
  const bytes = Buffer.from(html)
  res.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': bytes.length,
    'Content-Disposition': `inline; filename="${reportName(run.to, run.zone)}"`,
    'Content-Security-Policy': `${policy}; frame-ancestors 'none'`,
    'Cache-Control': 'no-store',
  })
  res.end(req.method === 'HEAD' ? undefined : bytes)
}

/** @param {URLSearchParams} query @returns {string | undefined} */
function mistakeIn(query) {
  const zone = query.get('zone')
  if (zone !== null && !isZone(zone)) return `'${zone}' is no time zone. Give a name such as Europe/Berlin.`
  const [from, to] = spanIn(query)
  if (Number.isNaN(from) || Number.isNaN(to))
    return 'from and to take a time in ISO 8601, or milliseconds since 1970.'
  return from < to ? undefined : 'from must be earlier than to.'
}

/** @param {URLSearchParams} query @returns {[from: number, to: number]} */
function spanIn(query) {
  const read = (name, otherwise) => {
    const text = query.get(name)
    if (text === null) return otherwise
    return /^\d+$/.test(text) ? Number(text) : Date.parse(text)
  }
  return [read('from', Number.NEGATIVE_INFINITY), read('to', Number.POSITIVE_INFINITY)]
}

/** @param {URLSearchParams} query @param {RunTotals} totals @param {Parts} parts */
function runOf(query, totals, { history, diagnose, optionsNow }) {
  const [from, to] = spanIn(query)
  const sightings = new Sightings()
  sightings.add(diagnose())
  return makeRun({
    asked: { from, to },
    points: history.points(),
    end: totals,
    findings: sightings.list(),
    slowest: totals.snapshot.slowest,
    options: describeOptions(optionsNow()),
    ...(query.has('zone') && { zone: /** @type {string} */ (query.get('zone')) }),
  })
}

module.exports = { reportPages }
