'use strict'
// One line an error, in pino's shape: what failed, where, for which request, in which trace. A flood of one kind is ten
// lines and then one a second, which says how many it stands for; it hides no other kind. Of the headers only those known
// to be harmless are shown: a secret may be in one of any name.

const BURST_LINES = 10
const LINE_EVERY_MS = 1000
/** Kinds past this share one budget. */
const MOST_KINDS = 200
const OTHER_KINDS = '_OTHER'
const LONGEST_VALUE = 256
const REDACTED = '[Redacted]'

const HARMLESS = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'origin',
  'range',
  'te',
  'traceparent',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
  'x-correlation-id',
  'x-request-id',
])

class ErrorLog {
  #logger
  #clock
  #faults
  #budgets = new Map()

  constructor({ logger, clock, faults }) {
    this.#logger = logger
    this.#clock = clock
    this.#faults = faults
  }

  /**
   * @param {InstanceType<typeof import('./failure').Failure>} failure
   * @param {{ event?: string, req?: any, route?: string | undefined, trace?: object | undefined }} where
   */
  write(failure, { event = 'error', req, route, trace }) {
    const budget = this.#budgetOf(`${event} ${failure.status} ${failure.type}`)
    const unlogged = spend(budget, this.#clock.now())
    if (unlogged < 0) return
    const { status } = failure
    const fields = {
      err: failure.describe(),
      event,
      status,
      route,
      ...trace,
      ...(unlogged > 0 && { unlogged }),
      ...(req !== undefined && { req: requestOf(req) }),
    }
    const what = req === undefined ? event : `${req.method} ${route} failed with ${status}`
    const level = status >= 500 ? 'error' : 'warn'
    this.#faults.guard('logger', () => this.#logger[level](fields, `spillway: ${what}`))
  }

  #budgetOf(kind) {
    let budget = this.#budgets.get(kind)
    if (budget !== undefined) return budget
    if (this.#budgets.size > MOST_KINDS && kind !== OTHER_KINDS) return this.#budgetOf(OTHER_KINDS)
    budget = { lines: BURST_LINES, sinceMs: this.#clock.now(), unlogged: 0 }
    this.#budgets.set(kind, budget)
    return budget
  }
}

/** @returns {number} how many have gone unlogged since the last line, or -1 for one that goes unlogged too */
function spend(budget, nowMs) {
  const earned = Math.floor((nowMs - budget.sinceMs) / LINE_EVERY_MS)
  if (earned > 0) {
    budget.lines = Math.min(BURST_LINES, budget.lines + earned)
    budget.sinceMs += earned * LINE_EVERY_MS
  }
  if (budget.lines === 0) {
    budget.unlogged++
    return -1
  }
  budget.lines--
  const { unlogged } = budget
  budget.unlogged = 0
  return unlogged
}

/** The path without its query, which may hold a token. */
function requestOf(req) {
  const url = String(req.originalUrl ?? req.url)
  return {
    id: idOf(req),
    method: req.method,
    url: url.split('?', 1)[0].slice(0, LONGEST_VALUE),
    headers: redacted(req.headers),
  }
}

function idOf({ id, headers }) {
  if (typeof id === 'string' || typeof id === 'number') return id
  return headers['x-request-id']?.slice(0, LONGEST_VALUE)
}

function redacted(headers) {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      HARMLESS.has(name) ? String(value).slice(0, LONGEST_VALUE) : REDACTED,
    ])
  )
}

module.exports = { ErrorLog }
