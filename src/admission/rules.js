'use strict'
// All the rules in force, and what they have to be told. The gate asks three things: is this request refused outright
// (thresholds, memory, the caller's own pressure and deadline), how many may be in flight, and how long may one wait.

const { AcceptDrain } = require('./accept-drain')
const { BacklogLimit, UnloadedTime } = require('./backlog-limit')
const { Callbacks } = require('./callbacks')
const { DelayGuard } = require('./delay-guard')
const { Idling } = require('./idling')
const { Lasting } = require('./lasting')
const { LatencyLimit } = require('./latency-limit')
const { MemoryGuard } = require('./memory-guard')
const { Pace } = require('./pace')
const { SHORTAGE_WEIGHTS } = require('./priority')
const { RequestCost } = require('./request-cost')
const { Thresholds, TurnSample } = require('./thresholds')

/** Up to so many answers it is a cold start: code is still loaded and compiled (Koa 3: a first request 17 ms, later ones 0.1). */
const START_ENDED = 200
/** What lasts so many times as long as a request may take in an overload does not wait for the overload. */
const LASTING_TIMES = 6
/** This share of the slots is filled unpaced: whatever a request is taken to cost, the loop does not run dry. */
const UNPACED_SHARE = 1 / 3

class Rules {
  /** Whether requests wait in our queue at all: only in adaptive mode. */
  queues
  /** Whether nobody is turned away: it only says what it would have done, or is off. */
  observes
  maxDelayMs
  targetDelayMs
  guard
  drain = new AcceptDrain()
  cost
  memory = new MemoryGuard()
  limitedBy = 'backlog'
  /** Where slots are free, but one more now would come too soon after the others: in how many ms it would not. Else 0. */
  pacedMs = 0
  #clock
  #options
  #backlog
  #unloaded
  #latency
  #pace = new Pace()
  #thresholds
  #turns
  #sampleMemory
  #idling
  #crowdedMs = Number.NEGATIVE_INFINITY
  #shortMs = Number.NEGATIVE_INFINITY
  #shortBy
  #inFlight = 0
  #isBacklogged = false
  #ended = 0
  #lasting
  #callbacks

  constructor(options, clock, { sampleMemory, faults }) {
    const nowMs = clock.now()
    this.#callbacks = new Callbacks({ faults })
    this.#lasting = new Lasting(nowMs)
    this.#clock = clock
    this.#sampleMemory = sampleMemory
    this.cost = new RequestCost(nowMs)
    this.guard = new DelayGuard(nowMs)
    this.#unloaded = new UnloadedTime(nowMs)
    this.#turns = new TurnSample(nowMs, clock.idleMs())
    this.#idling = new Idling(clock)
    this.update(options)
  }

  update(options) {
    this.#options = options
    this.#callbacks.update(options)
    this.queues = options.mode === 'adaptive'
    this.observes = options.mode === 'observe' || options.mode === 'off'
    this.maxDelayMs = options.maxDelay
    const targetDelayMs = Math.min(options.targetDelay, options.maxDelay)
    this.guard.update(options)
    this.#idling.update(options)
    this.#thresholds = this.#thresholds?.isOf(options) ? this.#thresholds : new Thresholds(options)
    // In the middle of an overload, what is usual could not be learnt anew.
    if (targetDelayMs === this.targetDelayMs) return
    this.targetDelayMs = targetDelayMs
    this.#backlog = new BacklogLimit({ slackMs: targetDelayMs / 2 })
    this.#latency = new LatencyLimit({ targetMs: targetDelayMs / 2 }, this.#clock.now())
  }

  // Hot path: four comparisons where nothing is set.
  /** @returns {string | undefined} why this request is refused whatever the queue */
  refusal({ admission }) {
    if (this.#thresholds.reason !== undefined) return this.#thresholds.reason
    if (!this.queues && this.#inFlight >= (this.#options.maxConcurrent ?? Number.POSITIVE_INFINITY))
      return 'concurrency'
    const { pressure } = this.#callbacks
    if (pressure > 0 && Math.random() < pressure * SHORTAGE_WEIGHTS[admission.priority]) return 'pressure'
    if (this.memory.pressure > 0 && this.memory.rejects(admission.priority, Math.random())) return 'memory'
    return undefined
  }

  /** Whether the process is too young for its cost per request to be known: it has not yet given two hundred answers. */
  get isStarting() {
    return this.#ended < START_ENDED
  }

  /**
   * How long it takes until that many have had their turn. At the start nobody knows: then who has waited too long is
   * rejected, and not who would.
   */
  expectedMs(ahead, hasRoom, nowMs) {
    if (this.isStarting) return 0
    const slots = Math.max(1, this.#inFlight - this.#lasting.count)
    return ahead * this.cost.each(hasRoom, slots, this.guard.isStanding(nowMs))
  }

  deadlineMs(request) {
    return this.#callbacks.deadlineMs(request)
  }

  heldMs(nowMs, turnMs) {
    return this.#idling.heldMs(nowMs, turnMs)
  }

  /** Why mode `observe` would have rejected it. It has no queue: what the kernel may have held is all of the wait. */
  observedReason(nowMs, turnMs) {
    const waitMs = this.heldMs(nowMs, turnMs)
    const isStanding = nowMs - this.#idling.sinceMs > this.#options.interval
    return waitMs > (isStanding ? this.targetDelayMs : this.#options.maxDelay) ? 'delay' : undefined
  }

  // Hot path: once a request.
  /** Whether one more may run beside those in flight. */
  hasRoom(inFlight, nowMs) {
    this.pacedMs = 0
    if (this.observes) return true
    this.#creditStall(nowMs)
    const limit = this.limit(nowMs)
    if (inFlight >= limit) return false
    const lasting = this.#lasting.count
    const isFilled = inFlight - lasting >= (limit - lasting) * UNPACED_SHARE
    if (this.#isBacklogged && isFilled) this.pacedMs = this.#pace.leftMs(nowMs)
    return this.pacedMs === 0
  }

  /** Where a turn has been long, those that came in it are let in as if they had come one by one. */
  #creditStall(nowMs) {
    const creditMs = this.#idling.takeCreditMs(nowMs)
    if (creditMs === 0) return
    this.#backlog.noteStall(creditMs, nowMs)
    // They burn together, and so do those that come meanwhile.
    this.#latency.noteStall(nowMs + 2 * (this.#unloaded.ms + creditMs))
  }

  /** How many may be in flight now. */
  limit(nowMs) {
    const backlog = this.#backlog.limit({
      nowMs,
      costMs: this.cost.grossMs,
      unloadedMs: this.#unloaded.ms,
      hasIdled: this.#idling.hasIdled(nowMs),
      isCrowded: this.#isCrowded(nowMs),
    })
    this.#isBacklogged = backlog !== Number.POSITIVE_INFINITY
    const latency = this.#latency.limit
    const { maxConcurrent = Number.POSITIVE_INFINITY } = this.#options
    const least = Math.min(Math.min(backlog, latency) + this.#lasting.count, maxConcurrent)
    this.limitedBy = least === maxConcurrent ? 'concurrency' : latency <= backlog ? 'latency' : 'backlog'
    return least
  }

  #isCrowded(nowMs) {
    return nowMs - this.#crowdedMs < this.#options.interval
  }

  /** A request found all slots taken. */
  noteShort(nowMs) {
    this.#shortMs = nowMs
    this.#shortBy = this.limitedBy
  }

  /** What those waited for that have waited too long: a slot where they are short, else the loop. */
  waitReason(nowMs) {
    return this.isShort(nowMs) ? this.#shortBy : 'delay'
  }

  /** Slots are given back in batches: that one is free now does not say that they have not been short. */
  isShort(nowMs) {
    return nowMs - this.#shortMs < this.#options.interval
  }

  /** Requests wait, or are turned away. */
  noteCrowd(nowMs) {
    this.#crowdedMs = nowMs
  }

  /** @returns {number} how many there are in flight that will end */
  noteAdmit(inFlight, nowMs) {
    this.#inFlight = inFlight
    this.cost.background.noteRequest()
    this.#backlog.noteAdmit(nowMs, this.cost.grossMs)
    this.#lasting.noteAdmit()
    const among = inFlight - this.#lasting.count
    this.#latency.noteAdmit(among, nowMs)
    this.#pace.noteAdmit(nowMs, this.cost.ms)
    return among
  }

  /** What a request from the queue took until it first returned. */
  noteRun(ranMs) {
    this.cost.noteRun(ranMs)
    this.#pace.noteRun(ranMs)
  }

  noteEnd(series, { admittedMs, admittedAmong }, nowMs) {
    const durationMs = nowMs - admittedMs
    const inFlight = this.#inFlight-- - this.#lasting.count
    this.#lasting.noteEnd(admittedMs)
    this.#ended++
    this.cost.noteEnd(durationMs)
    this.#unloaded.note(durationMs, nowMs)
    // Behind a loop that never idles, latency tells of the loop, which the backlog limit minds.
    if (!series || !this.#idling.hasIdled(nowMs)) return
    this.#latency.noteEnd(series, durationMs, nowMs, inFlight, admittedAmong)
  }

  noteNap() {
    this.#idling.noteNap()
  }

  noteTurn(busyMs, nowMs, idleMs) {
    // New connections are read in the turns after it.
    this.#creditStall(nowMs)
    this.#unloaded.noteIdle(this.#idling.noteTurn(busyMs, nowMs, idleMs, this.#isCrowded(nowMs)))
    this.#latency.loopHasTime = this.#idling.hasSpareTime
    this.guard.noteTurn(nowMs, this.#idling.sinceMs)
    this.cost.noteTurn(busyMs, nowMs, this.#inFlight - this.#lasting.count)
    this.drain.noteTurn(busyMs, nowMs)
    this.#turns.noteTurn(busyMs)
    this.#callbacks.noteTurn(nowMs)
    this.#lasting.noteTurn(nowMs, LASTING_TIMES * (this.#unloaded.ms + this.targetDelayMs))
    if (this.#turns.isDue(nowMs, this.#options.sampleInterval)) {
      const { afterGcBytes, limitBytes, ...memory } = this.#sampleMemory()
      this.memory.note(afterGcBytes, limitBytes)
      this.#thresholds.note({ ...this.#turns.take(nowMs, idleMs), ...memory })
    }
  }
}

module.exports = { Rules }
