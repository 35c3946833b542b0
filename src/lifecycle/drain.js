'use strict'
// Ends the service of one instance without losing a request, in four steps:
//   announce  not ready any more, and served as ever for `delayMs`, until balancers have noticed
//   close     the listening sockets, in a turn in which nobody connected: what stands in an accept queue then is reset
//   finish    every answer is its connection's last; what is still is closed, and what has no end is ended
//   cut       after `timeoutMs` what is left is destroyed, and counted
// The listening sockets go before the kept connections, so that who is sent away does not come back here.
// In development the first two are one, and only requests in flight are waited for.

const { Connections } = require('./connections')
const { DEVELOPMENT } = require('./drain-mode')
const { endIfEndless } = require('./endless-responses')

const TICK_MS = 50
/** Who connects after the poll is reset by the close: the turn to close in is one with little between the two. */
const SHORT_TURN_MS = 0.2
/** And the last of so many in which nobody connected, for clients come in crowds: 5 to 10 ms where little else is done. */
const QUIET_TURNS = 1000
/** That many at first; the longer it waits the fewer, and after this any turn will do in which nobody connects. */
const QUIET_PATIENCE_MS = 500
/** The share of the timeout after which a crowd at the door, what is still and what has no end are not waited for. */
const PATIENCE_SHARE = 0.25
/** After which somebody in front of a terminal wants to know what is waited for. */
const TELL_AFTER_MS = 1000

/** @typedef {{ reason: string, mode: 'production' | 'development', timeoutMs: number, delayMs: number }} DrainOrder */
/** @typedef {{ cut: number, durationMs: number }} DrainReport */

class Drain {
  #clock
  #recorder
  #servers
  #onBegin
  #onWait
  #onEnd
  /** @type {Promise<DrainReport> | undefined} */
  #done
  #resolve = (_report) => {}
  #isOver = false
  #timeoutMs = 0
  #isInDevelopment = false
  #hasToldOfWait = false
  #beganMs = 0
  /** When the listening sockets were closed. */
  #closedMs = Number.POSITIVE_INFINITY

  /**
   * @param {{ clock: any, recorder: any, servers: InstanceType<typeof import('./known-servers').KnownServers>,
   *   onBegin: (order: DrainOrder) => void, onWait: (inFlight: number) => void,
   *   onEnd: (report: DrainReport) => void }} parts `onWait` is called once in development, where it takes a second
   */
  constructor({ clock, recorder, servers, onBegin, onWait, onEnd }) {
    this.#clock = clock
    this.#recorder = recorder
    this.#servers = servers
    this.#onBegin = onBegin
    this.#onWait = onWait
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
    this.#isInDevelopment = order.mode === DEVELOPMENT
    this.#beganMs = this.#clock.now()
    for (const connections of this.#servers) connections.keepIdle()
    if (this.#isInDevelopment) {
      this.#onBegin(order)
      // What its listeners have written is sent before connections are closed.
      this.#clock.afterTurn(() => this.#close())
    } else {
      Connections.rehearseStop()
      this.#onBegin(order)
      this.#announce(order.delayMs)
    }
    return this.#done
  }

  #announce(delayMs) {
    const nowMs = this.#clock.now()
    for (const connections of this.#servers) connections.watchStillness(nowMs)
    const leftMs = this.#beganMs + delayMs - nowMs
    if (leftMs > 0) this.#clock.wait(Math.min(TICK_MS, leftMs), () => this.#announce(delayMs))
    else
      this.#clock.afterTurn(() =>
        this.#closeWhenQuiet({ sinceMs: nowMs, turnMs: nowMs, accepted: -1, quietTurns: 0 })
      )
  }

  /** From one check phase to the next, for the poll is between them. */
  #closeWhenQuiet(last) {
    const turnMs = this.#clock.now()
    const { accepted } = this.#servers
    const quietTurns = accepted === last.accepted ? last.quietTurns + 1 : 0
    const waitedMs = turnMs - last.sinceMs
    const isShort = turnMs - last.turnMs < SHORT_TURN_MS || waitedMs > QUIET_PATIENCE_MS
    const isQuiet = quietTurns > 0 && quietTurns >= QUIET_TURNS * (1 - waitedMs / QUIET_PATIENCE_MS)
    if (!(isShort && isQuiet) && waitedMs < this.#patienceMs) {
      const now = { sinceMs: last.sinceMs, turnMs, accepted, quietTurns }
      this.#clock.afterTurn(() => this.#closeWhenQuiet(now))
      return
    }
    this.#close()
  }

  #close() {
    // Before anything else.
    for (const connections of this.#servers) connections.stopAccepting()
    this.#closedMs = this.#clock.now()
    this.#recorder.isLeaving = true
    this.#finish()
  }

  #finish() {
    if (this.#endIfDone()) return
    const nowMs = this.#clock.now()
    const waitedMs = nowMs - this.#closedMs
    const endsStreams = this.#isInDevelopment || waitedMs >= this.#patienceMs
    for (const connections of this.#servers) {
      connections.stopAccepting()
      if (this.#isInDevelopment) connections.closeIdle()
      else this.#closeStill(connections, nowMs)
      if (endsStreams) connections.endStreams()
    }
    if (endsStreams) this.#endHttp2Streams()
    if (waitedMs >= this.#timeoutMs) return this.#cut()
    if (this.#isInDevelopment && waitedMs >= TELL_AFTER_MS) this.#tellOfWait()
    this.#clock.wait(TICK_MS, () => this.#finish())
  }

  #closeStill(connections, nowMs) {
    connections.watchStillness(nowMs)
    connections.closeStill(nowMs, this.#patienceMs)
  }

  #tellOfWait() {
    if (!this.#hasToldOfWait) this.#onWait(this.#inFlight)
    this.#hasToldOfWait = true
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
    return this.#recorder.active.total
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
