'use strict'
// The admission of one instance, put together: classes, rules, gate, refusal, tally and episodes. The adapters know
// only this: `decide` before a request runs, `release` when it has ended.

const { Classifier } = require('./classifier')
const { REJECTED, RUN } = require('./decision')
const { Episode } = require('./episode')
const { Gate } = require('./gate')
const { Refusal } = require('./refusal')
const { RetryAfter } = require('./retry-after')
const { Rules } = require('./rules')
const { Tally, listCounts } = require('./tally')

class Admission {
  tally = new Tally()
  gate
  rules
  episode
  /** Whether functions of the user's decide or answer, or get the error: where there is a framework, they expect its requests. */
  asksUser = false
  #clock
  #classifier
  #refusal
  #retryAfter
  #isOff = true
  #mode
  #maxConcurrent

  /**
   * @param {{ clock: any, faults: any, options: any, sampleMemory: () => object,
   *   tell: (event: 'overload' | 'recovered', details: object) => void }} parts
   */
  constructor({ clock, faults, options, sampleMemory, tell }) {
    this.#clock = clock
    this.#classifier = new Classifier(faults)
    this.#refusal = new Refusal(faults)
    this.rules = new Rules(options, clock, { sampleMemory, faults })
    this.episode = new Episode(clock, tell)
    this.gate = new Gate({
      clock,
      rules: this.rules,
      tally: this.tally,
      refuse: (request, reason) => this.#refuse(request, reason),
    })
    this.update(options)
  }

  update(options) {
    this.#mode = options.mode
    this.#maxConcurrent = options.maxConcurrent ?? Number.POSITIVE_INFINITY
    const { classify, deadline, errorMode, headers, respond } = options
    this.asksUser =
      errorMode === 'next' || [classify, deadline, headers, respond].some((each) => each !== undefined)
    this.#isOff = options.mode === 'off' || this.#clock.stands === true
    this.#retryAfter = new RetryAfter(options.retryAfter)
    this.#classifier.update(options)
    this.#refusal.update(options)
    this.rules.update(options)
  }

  // Hot path: once a request.
  /** @returns {number} RUN, QUEUED (then its `resume` is called) or REJECTED (then it is answered) */
  decide(request, nowMs) {
    const { admission } = request
    if (admission.isDecided) return RUN
    admission.isDecided = true
    const decision = this.#isOff ? RUN : this.#ask(request, nowMs)
    if (decision === RUN && !request.hasAnswer) request.markRunning()
    return decision
  }

  #ask(request, nowMs) {
    request.admission.priority = this.#classifier.of(request.req)
    const decision = this.gate.admit(request, nowMs)
    if (decision !== REJECTED) this.#retryAfter.noteAdmit()
    return decision
  }

  release(request, series) {
    this.gate.release(request, series)
  }

  /**
   * @param {'connection' | 'secureConnection' | 'tlsClientError'} event of the server
   * @param {{ isSecure: boolean, isHandedOver: boolean }} how its connections come
   */
  noteConnection(event, { isSecure, isHandedOver }) {
    const { drain } = this.rules
    const nowMs = this.#clock.now()
    if (event === 'connection') {
      drain.noteAccept(nowMs, isHandedOver)
      if (isSecure) drain.noteHandshake(nowMs)
    } else drain.noteHandshakeEnd()
  }

  onTurn(busyMs, nowMs, idleMs) {
    this.gate.onTurn(busyMs, nowMs, idleMs)
  }

  #refuse(request, reason) {
    request.admission.noteRejected(reason)
    this.tally.noteShed(reason, request.admission.priority)
    this.#retryAfter.noteReject()
    this.episode.noteReject(reason, this.#clock.now())
    this.#refusal.answer(request, reason, this.#retryAfter.seconds())
  }

  /** What exporters show, copied. */
  sample() {
    const { shed, wouldShed, queueDelays, admitted, abandoned } = this.tally
    return {
      mode: this.#mode,
      isOverloaded: this.episode.isOn,
      overloadedBy: this.episode.reason,
      overloads: this.episode.count,
      overloadedMs: this.episode.totalMs,
      inFlight: this.gate.inFlight,
      peakInFlight: this.gate.peakInFlight,
      waiting: this.gate.queueLength,
      limit: this.#limit(),
      costMs: this.rules.cost.ms,
      memoryPressure: this.rules.memory.pressure,
      admitted,
      abandoned,
      shed: listCounts(shed),
      wouldShed: listCounts(wouldShed),
      queueDelays: queueDelays.copy(),
    }
  }

  /** Only mode `adaptive` holds requests to what the rules find, and `observe` and `off` hold them to nothing. */
  #limit() {
    if (this.rules.queues) return this.rules.limit(this.#clock.now())
    return this.rules.observes ? Number.POSITIVE_INFINITY : this.#maxConcurrent
  }

  close() {
    this.#isOff = true
    this.gate.close()
  }
}

module.exports = { Admission }
