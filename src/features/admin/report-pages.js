'use strict'
// `/totals` and `/report`: the figures that a report of a run is made from, and a report of the last ten
// minutes as one document.

const { describeOptions } = require('./config')
const { JSON_TYPE, readOnly } = require('../../core/http/endpoints')
const { failWith, sendText } = require('./profile-answers')
const { loadStyle, makeDocument } = require('./report/document')
const { Sightings } = require('./report/sightings')
const { isZone, reportName } = require('./report/times')
const { makeRun } = require('./report/run')

/**
 * @import { Diagnosis, FleetSnapshot, Handler, Request, ResolvedOptions, Response, RunTotals } from '../../../index.js'
 * @import { Clock } from '../../core/clock'
 * @import { InternalErrors } from '../../core/errors/internal-errors'
 * @import { PauseRest, RestRefusal } from '../profiles/pause-rest'
 * @import { History } from './history'
 */

/** Longest wait of a client for a rest to end. */
const MAX_WAIT_MS = 1000

/** @template Value @typedef {{ value: Value } | { refusal: RestRefusal }} Made */

/**
 * Makes costly answers one at a time. After each answer the loop rests (features/profiles/pause-rest.js). A
 * client waits for a short rest, and is refused during a long one. An answer is never older than its request.
 * Requests that wait for the same answer share it.
 */
class Rested {
  #clock
  #rest
  /** Settles when the answer before is made. @type {Promise<unknown>} */
  #last = Promise.resolve()
  /** Answers that are requested but not begun. @type {Map<string, Promise<unknown>>} */
  #waiting = new Map()

  /**
   * @param {Pick<import('../../core/clock').Clock, 'after'>} clock
   * @param {PauseRest} rest
   */
  constructor(clock, rest) {
    this.#clock = clock
    this.#rest = rest
  }

  /**
   * @template Value
   * @param {string} key names the answer
   * @param {() => Value} make
   * @returns {Promise<Made<Value>>}
   */
  take(key, make) {
    const waiting = this.#waiting.get(key)
    if (waiting !== undefined) return /** @type {Promise<Made<Value>>} */ (waiting)
    const made = this.#last.then(() => this.#make(key, make))
    this.#waiting.set(key, made)
    this.#last = made.catch(() => {})
    return made
  }

  /** @template Value @param {string} key @param {() => Value} make @returns {Promise<Made<Value>>} */
  async #make(key, make) {
    try {
      const { leftMs, refusal } = this.#rest
      if (refusal !== undefined) {
        if (leftMs > MAX_WAIT_MS) return { refusal }
        await new Promise((resolve) => this.#clock.after(Math.ceil(leftMs), () => resolve(undefined)))
      }
    } finally {
      this.#waiting.delete(key)
    }
    return { value: this.#rest.pausing(make) }
  }
}

/**
 * @typedef {object} Deps
 * @property {Clock} clock
 * @property {{ rest: PauseRest }} profiles
 * @property {() => RunTotals} takeTotals
 * @property {() => Diagnosis} diagnose
 * @property {() => Promise<FleetSnapshot> | undefined} takeFleetSnapshot
 * @property {() => ResolvedOptions} optionsNow
 * @property {History} history
 * @property {InternalErrors} internalErrors
 */

/** @param {Deps} deps @returns {Record<string, Handler>} */
function reportPages(deps) {
  const rested = new Rested(deps.clock, deps.profiles.rest)
  /** @param {(req: Request, res: Response) => Promise<void>} answer */
  const page = (answer) =>
    readOnly((req, res) => {
      answer(req, res).catch((error) => {
        deps.internalErrors.report('report', error)
        failWith(res, `The page could not be made: ${error.message}`)
      })
    })
  return {
    '/totals': page(async (req, res) => {
      const made = await rested.take('/totals', () => JSON.stringify(deps.takeTotals()))
      if ('refusal' in made) return sendText(res, made.refusal)
      send(req, res, { 'Content-Type': JSON_TYPE }, made.value)
    }),
    '/report': page((req, res) => answerReport(req, res, rested, deps)),
  }
}

/** @param {Request} req @param {Response} res @param {Record<string, string>} headers @param {string} text */
function send(req, res, headers, text) {
  const bytes = Buffer.from(text)
  res.writeHead(200, { ...headers, 'Content-Length': bytes.length, 'Cache-Control': 'no-store' })
  res.end(/** @type {Buffer} */ (req.method === 'HEAD' ? undefined : bytes))
}

/** @param {Request} req @param {Response} res @param {Rested} rested @param {Deps} deps */
async function answerReport(req, res, rested, deps) {
  const { searchParams, search } = new URL(/** @type {string} */ (req.url), 'http://localhost')
  const wrong = mistakeIn(searchParams)
  if (wrong !== undefined) return sendText(res, { status: 400, text: wrong })
  const forgotten = forgottenIn(searchParams, deps)
  if (forgotten !== undefined) return sendText(res, { status: 404, text: forgotten })
  const style = await loadStyle()
  const fleet = await deps.takeFleetSnapshot()
  const workers = fleet?.workers.length ?? 1
  const made = await rested.take(`/report${search}`, () => {
    const run = runOf(searchParams, workers, deps)
    return { name: reportName(run.to, run.zone), ...makeDocument(run, style) }
  })
  if ('refusal' in made) return sendText(res, made.refusal)
  const { name, html, policy } = made.value
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Disposition': `inline; filename="${name}"`,
    'Content-Security-Policy': policy.replace(';', "; frame-ancestors 'none';"),
  }
  send(req, res, headers, html)
}

/** @param {URLSearchParams} query @returns {string | undefined} */
function mistakeIn(query) {
  const zone = query.get('zone')
  if (zone !== null && !isZone(zone))
    return `'${zone}' is not a time zone. Give a name such as Europe/Berlin.`
  const [from, to] = spanIn(query)
  if (Number.isNaN(from) || Number.isNaN(to))
    return 'from and to take a time in ISO 8601, or milliseconds since 1970.'
  return from < to ? undefined : 'The parameter `from` must be earlier than the parameter `to`.'
}

/** @param {URLSearchParams} query @param {Deps} deps @returns {string | undefined} */
function forgottenIn(query, { history }) {
  if (!query.has('from') && !query.has('to')) return undefined
  const [from, to] = spanIn(query)
  const points = history.points()
  if (points.some(({ at }) => at > from && at <= to)) return undefined
  if (points.length === 0) return 'The process has recorded nothing yet.'
  const [first, last] = [points[0], points[points.length - 1]].map(({ at }) => new Date(at).toISOString())
  return `The process remembers nothing of this time: it has kept the seconds from ${first} to ${last}.`
}

/** @param {URLSearchParams} query @returns {[from: number, to: number]} */
function spanIn(query) {
  /** @param {string} name @param {number} otherwise */
  const read = (name, otherwise) => {
    const text = query.get(name)
    if (text === null) return otherwise
    return /^\d+$/.test(text) ? Number(text) : Date.parse(text)
  }
  return [read('from', Number.NEGATIVE_INFINITY), read('to', Number.POSITIVE_INFINITY)]
}

/** @param {URLSearchParams} query @param {number} workers @param {Deps} deps */
function runOf(query, workers, { history, diagnose, optionsNow, takeTotals }) {
  const totals = takeTotals()
  const [from, to] = spanIn(query)
  const sightings = new Sightings()
  sightings.add(diagnose())
  return makeRun({
    asked: { from, to },
    points: history.points(),
    end: totals,
    findings: sightings.list(),
    hasVerdict: sightings.hasVerdict,
    slowest: totals.snapshot.slowest,
    options: describeOptions(optionsNow()),
    workers,
    ...(query.has('zone') && { zone: /** @type {string} */ (query.get('zone')) }),
  })
}

exports.Rested = Rested
exports.reportPages = reportPages
