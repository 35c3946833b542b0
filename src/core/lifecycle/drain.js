'use strict'
// Ends the service of one instance without losing a request, in four steps:
//   announce  /readyz fails and requests are served as before for `delayMs`, for load balancers to notice
//   close     close the listening sockets, in a loop turn without a new connection: the kernel resets those
//             that it has not handed over
//   finish    each response is the last on its connection; connections without traffic are closed, and
//             endless responses end
//   cut       after `timeoutMs` destroy the rest and count it
// Listening sockets are closed before keep-alive connections. So a client that loses its connection
// reconnects to another process. In development announce and close are one step, and only requests in flight
// are finished.

const { Connections } = require('../servers/connections')
const { DEVELOPMENT } = require('./drain-mode')
const { endIfEndless } = require('../request/event-stream')

/**
 * @import { Clock } from '../clock'
 * @import { Recorder } from '../request/recorder'
 * @import { KnownServers } from '../servers/known-servers'
 */

const TICK_MS = 50
/**
 * If a client connects after the poll phase and before the close, its connection is reset. So the close waits
 * for a loop turn shorter than this.
 */
const SHORT_TURN_MS = 0.2
/**
 * Clients connect in bursts, so the close waits for this many loop turns without a connection: 5 to 10 ms on
 * an idle loop.
 */
const QUIET_TURNS = 1000
/**
 * The number of quiet turns required falls to one within this time. After that, one turn of any length is
 * enough.
 */
const QUIET_WAIT_MS = 500
/**
 * The share of the timeout spent waiting for idle connections and for endless responses. While connections
 * keep coming, the close waits for at most the same time, before the timeout begins.
 */
const WAIT_SHARE = 0.25
/** After this time a terminal shows what the drain waits for. */
const REPORT_WAIT_AFTER_MS = 1000

/**
 * @typedef {{ reason: string, mode: 'production' | 'development', timeoutMs: number, delayMs: number }}
 *   DrainOrder
 */
/** @typedef {{ cut: number, durationMs: number }} DrainReport */

class Drain {
  #clock
  #recorder
  #servers
  #guard
  #onBegin
  #onWait
  #onStopAccepting
  #onEnd
  /** @type {Promise<DrainReport> | undefined} */
  #done
  #resolve = (/** @type {DrainReport} */ _report) => {}
  #isOver = false
  #timeoutMs = 0
  #isInDevelopment = false
  #hasReportedWait = false
  #beganMs = 0
  /** When the listening sockets were closed. */
  #closedMs = Number.POSITIVE_INFINITY

  /**
   * @param {{ clock: Clock, recorder: Recorder, servers: KnownServers, guard: (work: () => void) => void,
   *   onBegin: (order: DrainOrder) => void, onWait: (inFlight: number) => void, onStopAccepting?: () => void,
   *   onEnd: (report: DrainReport) => void }} deps `guard` reports thrown errors, so that the drain
   *   continues even if servers or sockets of the application throw; `onStopAccepting` is called when
   *   the listening sockets are closed; `onWait` is called once, in development, if the drain takes over a
   *   second
   */
  constructor({ clock, recorder, servers, guard, onBegin, onWait, onStopAccepting = () => {}, onEnd }) {
    this.#clock = clock
    this.#recorder = recorder
    this.#servers = servers
    this.#guard = guard
    this.#onBegin = onBegin
    this.#onWait = onWait
    this.#onStopAccepting = onStopAccepting
    this.#onEnd = onEnd
  }

  /** A server closed. Its last connection may be destroyed a moment after its `close` event. */
  onServerClose() {
    this.#clock.afterTurn(() => this.#endIfDone())
  }

  get isUnderWay() {
    return this.#done !== undefined && !this.#isOver
  }

  /**
   * Starts the drain. A second call gets the promise of the first.
   *
   * @param {DrainOrder} order
   */
  start(order) {
    if (this.#done !== undefined) return this.#done
    this.#done = new Promise((resolve) => (this.#resolve = resolve))
    this.#timeoutMs = order.timeoutMs
    this.#isInDevelopment = order.mode === DEVELOPMENT
    this.#beganMs = this.#clock.now()
    this.#each((connections) => connections.keepIdle())
    if (this.#isInDevelopment) {
      this.#onBegin(order)
      // Listeners of `draining` may write to their streams. Node sends what they wrote before the connections
      // are closed.
      this.#clock.afterTurn(() => this.#close())
    } else {
      Connections.warmUp()
      this.#onBegin(order)
      this.#announce(order.delayMs)
    }
    return this.#done
  }

  /** @param {number} delayMs */
  #announce(delayMs) {
    const nowMs = this.#clock.now()
    this.#each((connections) => connections.sampleTraffic(nowMs))
    const leftMs = this.#beganMs + delayMs - nowMs
    if (leftMs > 0) this.#clock.wait(Math.min(TICK_MS, leftMs), () => this.#announce(delayMs))
    else
      this.#clock.afterTurn(() =>
        this.#closeWhenQuiet({ sinceMs: nowMs, turnMs: nowMs, accepted: -1, quietTurns: 0 })
      )
  }

  /**
   * Runs in the check phase of each loop turn: the poll phase, which accepts connections, lies between two
   * calls.
   *
   * @param {{ sinceMs: number, turnMs: number, accepted: number, quietTurns: number }} last
   */
  #closeWhenQuiet(last) {
    const turnMs = this.#clock.now()
    const { accepted } = this.#servers
    const quietTurns = accepted === last.accepted ? last.quietTurns + 1 : 0
    const waitedMs = turnMs - last.sinceMs
    const isShort = turnMs - last.turnMs < SHORT_TURN_MS || waitedMs > QUIET_WAIT_MS
    const isQuiet = quietTurns > 0 && quietTurns >= QUIET_TURNS * (1 - waitedMs / QUIET_WAIT_MS)
    if (!(isShort && isQuiet) && waitedMs < this.#mostWaitMs) {
      const now = { sinceMs: last.sinceMs, turnMs, accepted, quietTurns }
      this.#clock.afterTurn(() => this.#closeWhenQuiet(now))
      return
    }
    this.#close()
  }

  #close() {
    // This comes first: clients that connect during other work in this turn would be reset.
    this.#each((connections) => connections.stopAccepting())
    this.#closedMs = this.#clock.now()
    this.#recorder.onStopAccepting()
    this.#guard(this.#onStopAccepting)
    this.#finish()
  }

  #finish() {
    if (this.#endIfDone()) return
    const nowMs = this.#clock.now()
    const waitedMs = nowMs - this.#closedMs
    const endsStreams = this.#isInDevelopment || waitedMs >= this.#mostWaitMs
    this.#each((connections) => {
      connections.stopAccepting()
      if (this.#isInDevelopment) connections.closeIdle()
      else this.#closeStill(connections, nowMs)
    })
    if (endsStreams) {
      this.#each((connections) => connections.endStreams())
      this.#guard(() => this.#endHttp2Streams())
    }
    if (waitedMs >= this.#timeoutMs) return this.#cut()
    if (this.#isInDevelopment && waitedMs >= REPORT_WAIT_AFTER_MS) this.#reportWait()
    this.#clock.wait(TICK_MS, () => this.#finish())
  }

  /** @param {Connections} connections @param {number} nowMs */
  #closeStill(connections, nowMs) {
    connections.sampleTraffic(nowMs)
    connections.closeStill(nowMs, this.#mostWaitMs)
  }

  #reportWait() {
    if (!this.#hasReportedWait) this.#onWait(this.#inFlight)
    this.#hasReportedWait = true
  }

  /** An HTTP/2 session does not list its responses, so the recorder's requests are used. */
  #endHttp2Streams() {
    for (const { res, stream } of this.#recorder.requests) if (stream !== undefined) endIfEndless(res)
  }

  #cut() {
    const cut = this.#inFlight
    this.#recorder.onCut()
    this.#each((connections) => connections.cut())
    // Requests that were cut are recorded when their sockets emit `close`.
    this.#clock.afterTurn(() => this.#end(cut))
  }

  get #mostWaitMs() {
    return this.#timeoutMs * WAIT_SHARE
  }

  get #inFlight() {
    return this.#recorder.requests.size
  }

  #endIfDone() {
    if (this.#isOver) return true
    if (this.#closedMs === Number.POSITIVE_INFINITY || this.#inFlight > 0 || !this.#servers.areDone)
      return false
    this.#end(0)
    return true
  }

  /** @param {number} cut */
  #end(cut) {
    if (this.#isOver) return
    this.#isOver = true
    const report = Object.freeze({ cut, durationMs: this.#clock.now() - this.#beganMs })
    this.#guard(() => this.#onEnd(report))
    this.#resolve(report)
  }

  /** @param {(connections: Connections) => void} work */
  #each(work) {
    for (const connections of this.#servers) this.#guard(() => work(connections))
  }
}

exports.Drain = Drain
