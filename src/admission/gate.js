'use strict'
// May this request run now? Composes the rules of this folder into the one decision each request gets: run, wait in
// our queue, or be rejected; and works the queue off, one budget a loop turn, so that polling and accepting go on.
// Below capacity on kept connections nothing waits: the queue is empty and the turn is young.

const { isDisconnected } = require('../recording/request')
const { Alarm, NAP_MS, isSoon } = require('./alarm')
const { inItsContext, keepContext, resumeInContext } = require('./async-context')
const { FINAL, QUEUED, REJECTED, RUN } = require('./decision')
const { BYPASS, CRITICAL, NORMAL } = require('./priority')
const { Turn } = require('./turn')
const { WaitingRoom } = require('./waiting-room')

/** A gate that admits nothing learns nothing: whatever the rules say, where none ends for so long one request gets in. */
const LEAST_ADMIT_MS = 100
const LOOK_THROUGH_EVERY_MS = 20
/** So many times maxDelay one may wait while the process starts. */
const START_DELAYS = 2

class Gate {
  /** Admitted and not ended. */
  inFlight = 0
  peakInFlight = 0
  #clock
  #rules
  #tally
  #refuse
  #room = new WaitingRoom()
  #turn
  #isTurning = false
  #isDraining = false
  #isServing = false
  #lastAdmitMs = 0
  #lastEndMs = 0
  /** The last that was let in without one, while it runs: its end lets in the next. */
  #beside
  #alarm
  #turnAgain = () => {}
  #isClosed = false

  /** @param {{ clock: any, rules: any, tally: any, refuse: (request: any, reason: string) => void }} parts */
  constructor({ clock, rules, tally, refuse }) {
    this.#clock = clock
    this.#rules = rules
    this.#tally = tally
    this.#refuse = refuse
    this.#turn = new Turn(clock)
    this.#alarm = new Alarm(clock, () => {
      if (this.#room.length > 0) this.#work(this.#clock.now())
    })
  }

  get queueLength() {
    return this.#room.length
  }

  // Hot path: once a request. Below capacity this is a dozen comparisons, with nothing allocated.
  /** @returns {number} RUN it now, QUEUED to be run by its `resume`, REJECTED and answered */
  admit(request, nowMs) {
    const { priority } = request.admission
    const rules = this.#rules
    if (priority === BYPASS) return RUN
    this.#turn.open(nowMs)
    if (rules.observes) return this.#observe(request, nowMs)
    const refusal = rules.refusal(request)
    if (refusal !== undefined) return this.#reject(request, refusal, nowMs)
    if (!rules.queues) return this.#enter(request, nowMs)
    rules.drain.noteRequest()
    const hasRoom = rules.hasRoom(this.inFlight, nowMs)
    if (!hasRoom) rules.noteShort(nowMs)
    if (this.#room.length === 0) {
      rules.guard.noteEmpty(nowMs)
      if (hasRoom && this.#turn.isYoung(nowMs) && !rules.drain.isAccepting(nowMs)) {
        return this.#enter(request, nowMs)
      }
    }
    const expectedMs = rules.expectedMs(this.#room.ahead(priority), hasRoom, nowMs)
    if (expectedMs >= rules.deadlineMs(request)) return this.#reject(request, 'deadline', nowMs)
    if (expectedMs > this.#toleratedMs(priority, hasRoom, nowMs))
      return this.#reject(request, rules.waitReason(nowMs), nowMs)
    // One of the user's functions asked above may have closed it: nobody would work the queue off.
    if (this.#isClosed) return this.#enter(request, nowMs)
    this.#queue(request, nowMs)
    return QUEUED
  }

  #observe(request, nowMs) {
    const reason = this.#rules.refusal(request) ?? this.#rules.observedReason(nowMs, this.#turn.ageMs(nowMs))
    if (reason !== undefined) this.#tally.noteWouldShed(reason, request.admission.priority)
    return this.#enter(request, nowMs)
  }

  #enter(request, nowMs) {
    request.admission.noteAdmitted(nowMs, this.inFlight)
    if (++this.inFlight > this.peakInFlight) this.peakInFlight = this.inFlight
    this.#lastAdmitMs = nowMs
    this.#tally.admitted++
    request.admission.admittedAmong = this.#rules.noteAdmit(this.inFlight, nowMs)
    return RUN
  }

  #isStarved(nowMs) {
    return nowMs - this.#lastAdmitMs > LEAST_ADMIT_MS
  }

  /** Whether one may without a slot. While those that hold them come to their end there is something to learn from. */
  #mayRunBeside(nowMs) {
    const isStuck = nowMs - this.#lastEndMs > LEAST_ADMIT_MS && this.#rules.limitedBy !== 'concurrency'
    return isStuck && (this.#beside === undefined || this.#isStarved(nowMs))
  }

  #reject(request, reason, nowMs) {
    if (!FINAL.includes(reason) && this.#isStarved(nowMs) && this.#room.length === 0)
      return this.#enter(request, nowMs)
    this.#rules.noteCrowd(nowMs)
    this.#refuseAt(nowMs, request, reason)
    return REJECTED
  }

  #refuseAt(nowMs, request, reason) {
    this.#refuse(request, reason)
    this.#rules.cost.noteReject(this.#clock.now() - nowMs)
  }

  #queue(request, nowMs) {
    const heldMs = this.#rules.heldMs(nowMs, this.#turn.ageMs(nowMs))
    request.admission.noteQueued(nowMs, this.#rules.guard.waitsSince(nowMs, heldMs))
    if (!request.hasAnswer) request.markQueued()
    keepContext(request)
    this.#room.push(request.admission.priority, request)
    // Where it came from a timer, no check phase follows before the loop sleeps.
    if (this.#room.length === 1) this.#clock.afterTurn(this.#turnAgain)
  }

  /** A burst may wait for the loop. Where slots are short, or were a moment ago, nobody waits long: that is overload already. */
  #toleratedMs(priority, hasRoom, nowMs) {
    const rules = this.#rules
    if (rules.observes) return Number.POSITIVE_INFINITY
    if (rules.isStarting) return START_DELAYS * rules.maxDelayMs
    if (priority === CRITICAL) return rules.maxDelayMs
    return hasRoom && !rules.isShort(nowMs) ? rules.guard.toleratedMs(nowMs) : rules.targetDelayMs
  }

  /** The request has ended, however it did. */
  release(request, series) {
    if (!request.admission.isInFlight) {
      if (!request.admission.isAbandoned) return
      this.#tally.abandoned++
      return request.admission.giveUp?.()
    }
    const nowMs = this.#clock.now()
    this.inFlight--
    if (request === this.#beside) this.#beside = undefined
    else this.#lastEndMs = nowMs
    this.#rules.noteEnd(series, request.admission, nowMs)
    request.admission.noteReleased()
    // All timers that are due run in one turn. Were their slots filled only after it, those that await the same time would
    // go on in step, and the loop would idle with them (served of twice the capacity: 0.83).
    if (this.#room.length === 0 || this.#isServing || this.#isDraining || this.#turn.isOld(nowMs)) return
    this.#serve(nowMs)
  }

  /** In the check phase of every loop turn. */
  onTurn(busyMs, nowMs, idleMs) {
    const rules = this.#rules
    this.#turn.close(nowMs, idleMs)
    rules.noteTurn(busyMs, nowMs, idleMs)
    const isTurning = rules.drain.shouldTurn(nowMs, busyMs)
    // One connection is not a drain yet: it takes a turn, in which slots may be filled.
    this.#isDraining = isTurning && this.#isTurning
    this.#isTurning = isTurning
    if (this.#room.length === 0) rules.guard.noteEmpty(nowMs)
    else if (!isTurning) this.#work(nowMs)
    else if (rules.drain.isAwaitingPrimary) {
      rules.noteNap()
      // A connection that is handed over ends it.
      this.#clock.after(NAP_MS, this.#turnAgain)
    } else this.#clock.afterTurn(this.#turnAgain)
  }

  #work(nowMs) {
    const rules = this.#rules
    this.#turn.serve(nowMs)
    const endMs = this.#serve(nowMs)
    if (this.#room.length > 0) rules.noteCrowd(endMs)
    this.#expire(endMs)
    if (this.#room.length === 0) rules.guard.noteEmpty(endMs)
    else if (rules.hasRoom(this.inFlight, endMs) || isSoon(rules.pacedMs))
      this.#clock.afterTurn(this.#turnAgain)
    else this.#alarm.set(rules.pacedMs > 0 ? NAP_MS : LOOK_THROUGH_EVERY_MS, endMs)
  }

  /** @returns {number} the time when it was done: the queue is empty, no slot is free, or the turn's budget is spent */
  #serve(startMs) {
    const rules = this.#rules
    let nowMs = startMs
    this.#isServing = true
    while (this.#room.length > 0 && this.#turn.hasBudget) {
      const hasRoom = rules.hasRoom(this.inFlight, nowMs)
      if (!hasRoom && !this.#mayRunBeside(nowMs)) break
      const request = this.#room.shift()
      // The handler of a client that disconnected meanwhile would get no event any more: it does not run.
      if (isDisconnected(request)) continue
      const waitedMs = rules.guard.patienceAt(nowMs) - request.admission.waitsSinceMs
      if (waitedMs > this.#toleratedMs(request.admission.priority, true, nowMs)) {
        this.#turnAway(request)
        continue
      }
      this.#tally.noteWait(nowMs - request.admission.queuedMs)
      if (!hasRoom) this.#beside = request
      this.#enter(request, nowMs)
      if (!request.hasAnswer) request.markRunning()
      resumeInContext(request)
      const endMs = this.#clock.now()
      rules.noteRun(endMs - nowMs)
      this.#turn.noteRun(endMs - nowMs)
      nowMs = endMs
    }
    this.#isServing = false
    return nowMs
  }

  #expire(nowMs) {
    const hasRoom = this.inFlight < this.#rules.limit(nowMs)
    const sinceMs = this.#rules.guard.patienceAt(nowMs)
    this.#room.expire(
      sinceMs - this.#toleratedMs(NORMAL, hasRoom, nowMs),
      sinceMs - this.#toleratedMs(CRITICAL, hasRoom, nowMs),
      (request) => this.#turnAway(request, hasRoom ? undefined : this.#rules.limitedBy)
    )
  }

  #turnAway(request, reason) {
    if (isDisconnected(request)) return
    const nowMs = this.#clock.now()
    this.#rules.guard.noteExpired(nowMs)
    inItsContext(request, () => this.#refuseAt(nowMs, request, reason ?? this.#rules.waitReason(nowMs)))
    request.admission.giveUp?.()
  }

  /** Answers those that wait; nothing is queued from now on. */
  close() {
    this.#isClosed = true
    for (let request = this.#room.shift(); request !== undefined; request = this.#room.shift())
      this.#turnAway(request, 'closed')
  }
}

module.exports = { Gate }
