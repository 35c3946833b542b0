'use strict'
// Ends the service of one instance without losing a request, in four steps:
//   announce  not ready any more, and served as ever for `delayMs`, until balancers have noticed
//   close     the listening sockets, in a turn in which nobody connected: what stands in an accept queue then is reset
//   finish    every answer is its connection's last; what is still is closed, and what has no end is ended
//   cut       after `timeoutMs` what is left is destroyed, and counted
// The listening sockets go before the kept connections, so that who is sent away does not come back here.

const { endIfEndless } = require('./endless')

const TICK_MS = 50
/** Who connects after the poll is reset by the close: the turn to close in is one with little between the two. */
const SHORT_TURN_MS = 1
/** After so long any turn will do in which nobody connects. */
const SHORT_TURN_PATIENCE_MS = 500
/** The share of the timeout after which a crowd at the door, what is still and what has no end are not waited for. */
const PATIENCE_SHARE = 0.25

/** @typedef {{ reason: string, timeoutMs: number, delayMs: number }} DrainOrder */
/** @typedef {{ cut: number, durationMs: number }} DrainReport */

class Drain {
  #clock
  #recorder
  #servers
  #onBegin
  #onEnd
  /** @type {Promise<DrainReport> | undefined} */
  #done
  #resolve = (_report) => {}
  #isOver = false
  #timeoutMs = 0
  #beganMs = 0
  /** When the listening sockets were closed. */
  #closedMs = Number.POSITIVE_INFINITY

  /**
   * @param {{ clock: any, recorder: any, servers: InstanceType<typeof import('./known-servers').KnownServers>,
   *   onBegin: (order: DrainOrder) => void, onEnd: (report: DrainReport) => void }} parts
   */
  constructor({ clock, recorder, servers, onBegin, onEnd }) {
    this.#clock = clock
    this.#recorder = recorder
    this.#servers = servers
    this.#onBegin = onBegin
    this.#onEnd = onEnd
    // Its connections are told of their end a moment later.
    servers.onClose = () => clock.afterTurn(() => this.#endIfDone())
  }

  get isUnderWay() {
    return this.#done !== undefined && !this.#isOver
  }

  /**
   * A second call joins the first.
   *
   * @param {DrainOrder} order
   */
  start(order) {
    if (this.#done !== undefined) return this.#done
    this.#done = new Promise((resolve) => (this.#resolve = resolve))
    this.#timeoutMs = order.timeoutMs
    this.#beganMs = this.#clock.now()
    for (const connections of this.#servers) connections.keepIdle()
    this.#onBegin(order)
    this.#announce(order.delayMs)
    return this.#done
  }

  #announce(delayMs) {
    const nowMs = this.#clock.now()
    for (const connections of this.#servers) connections.watchStillness(nowMs)
    const leftMs = this.#beganMs + delayMs - nowMs
    if (leftMs > 0) this.#clock.wait(Math.min(TICK_MS, leftMs), () => this.#announce(delayMs))
    else this.#clock.afterTurn(() => this.#closeWhenQuiet({ sinceMs: nowMs, turnMs: nowMs, accepted: -1 }))
  }

  /** From one check phase to the next, for the poll is between them. */
  #closeWhenQuiet({ sinceMs, turnMs, accepted }) {
    const nowMs = this.#clock.now()
    const now = { sinceMs, turnMs: nowMs, accepted: this.#servers.accepted }
    const waitedMs = nowMs - sinceMs
    const isQuiet = accepted === now.accepted
    const isBest = isQuiet && nowMs - turnMs < SHORT_TURN_MS
    const isGoodEnough = isQuiet && waitedMs > SHORT_TURN_PATIENCE_MS
    if (isBest || isGoodEnough || waitedMs >= this.#patienceMs) {
      this.#closedMs = nowMs
      this.#recorder.isLeaving = true
      this.#finish()
    } else this.#clock.afterTurn(() => this.#closeWhenQuiet(now))
  }

  #finish() {
    if (this.#endIfDone()) return
    const nowMs = this.#clock.now()
    for (const connections of this.#servers) {
      connections.stopAccepting()
      connections.watchStillness(nowMs)
      connections.closeStill(nowMs, this.#patienceMs)
      if (nowMs - this.#closedMs >= this.#patienceMs) connections.endStreams()
    }
    if (nowMs - this.#closedMs >= this.#patienceMs) this.#endHttp2Streams()
    if (nowMs - this.#closedMs >= this.#timeoutMs) this.#cut()
    else this.#clock.wait(TICK_MS, () => this.#finish())
  }

  /** A session tells of none of its answers: those that are measured are known. */
  #endHttp2Streams() {
    for (const { res, stream } of this.#recorder.requests) if (stream !== undefined) endIfEndless(res)
  }

  #cut() {
    const cut = this.#inFlight
    for (const connections of this.#servers) connections.cut()
    // What was cut is recorded when its sockets have told of it.
    this.#clock.afterTurn(() => this.#end(cut))
  }

  get #patienceMs() {
    return this.#timeoutMs * PATIENCE_SHARE
  }

  get #inFlight() {
    return this.#recorder.inFlight.reduce((sum, count) => sum + count, 0)
  }

  #endIfDone() {
    if (this.#isOver) return true
    if (!this.#recorder.isLeaving || this.#inFlight > 0 || !this.#servers.areDone) return false
    this.#end(0)
    return true
  }

  #end(cut) {
    if (this.#isOver) return
    this.#isOver = true
    const report = Object.freeze({ cut, durationMs: this.#clock.now() - this.#beganMs })
    this.#onEnd(report)
    this.#resolve(report)
  }
}

module.exports = { Drain }
