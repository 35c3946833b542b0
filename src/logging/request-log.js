'use strict'
// What is logged of requests that have ended: the slow ones, and all of them if asked for. A logger may throw, or be closed:
// no request suffers from that.

const { withRounded } = require('../durations')
const { activeSpan, traceFieldsOf } = require('../tracing/active-span')
const { LOG } = require('../requests/ignore')
const { LineBudget } = require('./log-rate-limit')
const { SlowRequests } = require('../requests/slow-requests')
const { AccessHooks } = require('./access-hooks')
const { AccessLog } = require('./access-log')

class RequestLog {
  slow
  #access
  #budget
  #clock
  #faults
  #logger
  #recorder

  /** @param {{ clock: any, faults: any, fields: any, logger: any, loopDelay: any, options: any,
   *   recorder: { isTracing: boolean } }} parts */
  constructor({ clock, faults, fields, logger, loopDelay, options, recorder }) {
    this.#budget = new LineBudget(clock.now())
    this.#clock = clock
    this.#faults = faults
    this.#logger = logger
    this.#recorder = recorder
    const traceOf = () => this.#trace()
    this.slow = new SlowRequests(options, {
      clock,
      fields,
      loopDelay,
      traceOf,
      onSlow: (slow) => this.#writeSlow(slow),
      onWindow: (slowest) => this.#writeSlowest(slowest),
    })
    if (options.access !== false) {
      const hooks = options.access === true ? undefined : new AccessHooks(options.access, { faults, logger })
      this.#access = new AccessLog({ clock, fields, hooks, logger, traceOf })
    }
  }

  // Hot path: once a request.
  onEnd(request) {
    if ((request.ignores & LOG) !== 0) return
    if (request.durationMs > this.slow.thresholdMs) this.#note(request)
    if (this.#access !== undefined) this.#writeAccess(request)
  }

  #note(request) {
    this.#faults.guard('recording', () => this.slow.note(request))
  }

  #writeAccess(request) {
    try {
      this.#faults.heed('logger', this.#access.write(request))
    } catch (error) {
      this.#faults.report('logger', error)
    }
  }

  #writeSlow(slow) {
    const unlogged = this.#budget.spend(this.#clock.now())
    if (unlogged < 0) return
    const fields = { ...fieldsOf('slow', slow), ...(unlogged > 0 && { unlogged }) }
    this.#guard(() => this.#logger.warn(fields, `spillway: ${sentenceOf(slow)}`))
  }

  #writeSlowest(slowest) {
    for (const [index, slow] of slowest.entries()) {
      const message = `spillway: ${sentenceOf(slow)}, number ${index + 1} of the minute's slowest`
      // It ended up to a minute ago.
      const fields = { at: slow.at, ...fieldsOf('slowest', slow) }
      this.#guard(() => this.#logger.info(fields, message))
    }
  }

  #trace() {
    if (!this.#recorder.isTracing) return undefined
    try {
      const span = activeSpan()
      return span === undefined ? undefined : traceFieldsOf(span)
    } catch (error) {
      this.#faults.report('tracing', error)
      return undefined
    }
  }

  #guard(callback) {
    this.#faults.guard('logger', callback)
  }
}

function fieldsOf(event, { route, status, outcome, ...slow }) {
  const { durationMs, queueMs, firstByteMs, loopDelayMs, trace, req } = slow
  return {
    event,
    route,
    status,
    outcome,
    ...withRounded({ durationMs, queueMs, firstByteMs, loopDelayMs }),
    ...trace,
    req,
  }
}

const sentenceOf = ({ method, route, durationMs }) => `${method} ${route} took ${Math.round(durationMs)} ms`

module.exports = { RequestLog }
