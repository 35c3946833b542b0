'use strict'
// The real admission with the real deadlines and limits in simulated time. Requests carry what proxies and
// callers send: a stamp by the clock of the proxy, and a timeout.

const { deadlinesOf } = require('../../src/features/deadlines/deadlines')
const { Bulkheads } = require('../../src/features/bulkheads/bulkheads')
const { MEMBER_DEFAULTS } = require('../../src/core/options/member-options')
const { DEFAULTS } = require('../../src/core/options/options')
const { randomFrom } = require('./random')
const { stack } = require('./stack')

/** When each world begins, by the clock of the service. */
const EPOCH_MS = Date.UTC(2026, 0, 1)
const HEADER = 'x-request-timeout-ms'

/**
 * Of one world.
 *
 * @param {{ ages?: any, deadlines?: any[], bulkheads?: any[] }} features see features.js; a
 *   bulkhead is a number, or the options of a limit
 * @param {any} [base] the stack that the features are added to
 */
function featureStack({ ages, deadlines, bulkheads = [] }, base = stack) {
  const random = randomFrom(7)
  const recorder = { endedMs: 0, timeParts: {}, find: (res) => res.request }
  let [running, limits, ofDeadlines, clock] = [0, undefined, undefined, undefined]
  const middlewares = []

  function stampOf({ behindMs, jitterMs, unitMs }, atMs) {
    const ms = EPOCH_MS + atMs - behindMs + jitterMs * (random() - 0.5)
    const seconds = (Math.floor(ms / unitMs) * unitMs) / 1000
    return `t=${seconds.toFixed(unitMs === 1000 ? 0 : 3)}`
  }

  function headersOf({ atMs, index }) {
    const headers = {}
    if (ages !== undefined) headers['x-request-start'] = stampOf(ages.proxies[index], atMs)
    if (deadlines?.[index] !== undefined) headers[HEADER] = deadlines[index].toFixed(3)
    return headers
  }

  return {
    ...base,
    admission(given, shed, connections) {
      running = recorder.endedMs = 0
      clock = { ...given, wallMs: () => EPOCH_MS + given.now() }
      const admission = base.admission(given, shed, connections)
      const instance = /** @type {any} */ ({
        admission,
        clock,
        entrance: { enter: (_req, _res, request) => request },
        internalErrors: undefined,
        options: {
          proxy: { requestStart: ages !== undefined || undefined },
          deadline: { ...DEFAULTS.deadline, header: deadlines && HEADER },
          shed: { maxAge: ages?.maxAgeMs },
        },
        recorder,
        timeouts: { leftMs: () => Number.POSITIVE_INFINITY },
        warn: () => {},
      })
      if (ages !== undefined || deadlines !== undefined) ofDeadlines = deadlinesOf(instance)
      limits = new Bulkheads(instance)
      for (const [route, bulkhead] of bulkheads.entries()) {
        const of = typeof bulkhead === 'number' ? { maxConcurrent: bulkhead } : bulkhead
        if (of?.maxConcurrent > 0)
          middlewares[route] = limits.add({ ...MEMBER_DEFAULTS.limit, ...of, name: `route ${route}` })
      }
      return admission
    },
    request(given) {
      const request = /** @type {any} */ (
        base.request({ ...given, headers: { ...given.headers, ...headersOf(given) } })
      )
      request.connection.remoteAddress = `192.0.2.${given.index}`
      request.ignores = 0
      request.res.request = request
      request.startedMs = clock.now()
      request.receivedIdleMs = clock.idleMs()
      request.othersInFlight = running++
      ofDeadlines?.onRequest(request)
      return request
    },
    enter(request, index, run) {
      if (middlewares[index] === undefined) run()
      else middlewares[index](request.req, request.res, run)
    },
    onTurn(nowMs) {
      limits.onInterval()
      base.onTurn?.(nowMs)
    },
    release(admission, request) {
      running--
      recorder.endedMs = clock.now()
      limits.onEnd(request)
      base.release(admission, request)
    },
  }
}

module.exports = { featureStack }
