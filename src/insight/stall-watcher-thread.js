'use strict'
// The worker thread of stall-watcher.js. When the beat of the watched thread stops, it asks that thread's debugger to pause, reads
// the stack, and lets the thread go on. Whatever fails here, the watched thread must go on: a session that disconnects resumes it.

const { Session } = require('node:inspector')
const { workerData } = require('node:worker_threads')
const { systemClock: clock } = require('../clock')
const {
  BEAT,
  CONNECTED,
  DISCONNECTED,
  HEAP_IS_FULL,
  IDLE,
  MAX_FRAMES,
  PHASE,
  STOP,
  periodOf,
  readAfterMs,
  restAfterMs,
} = require('./stall-signals')
const { DirectChannel, WorkerChannel } = require('./debugger-channel')

const MAX_SCRIPTS = 20_000
/** @type {{ shared: Int32Array<SharedArrayBuffer>, port: import('node:worker_threads').MessagePort, target: number,
 *   thresholdMs: number, expression: string }} */
const { shared, port, target, thresholdMs, expression } = workerData

const periodMs = periodOf(thresholdMs)
const slowMs = readAfterMs(thresholdMs)
/** A poll that is later than this was not scheduled in time, and the watched thread perhaps neither. */
const MAX_LATE_MS = 25
const MIN_POLL_MS = 5

class Watch {
  #beat = Atomics.load(shared, BEAT)
  /** How long this thread itself has not run since that beat. */
  #lostMs = 0
  #dueMs = clock.sharedMs()
  /** @type {number | undefined} */
  #askedBeat
  #askedMs = 0
  #isAsked = false
  #isStopped = false
  #restUntilMs = 0
  #channel
  /** The address of each script of the watched thread, because a frame may have none. */
  #urls = new Map()

  start() {
    // The watched thread may end meanwhile: then nothing may connect to it any more.
    if (Atomics.compareExchange(shared, PHASE, IDLE, CONNECTED) !== IDLE) return
    const onEvent = (method, params) => this.#onEvent(method, params)
    this.#channel =
      target === 0 ? new DirectChannel(Session, onEvent) : new WorkerChannel(Session, target, onEvent)
    this.#channel.open()
    const stopped = /** @type {any} */ (Atomics).waitAsync(shared, STOP, 0)
    if (stopped.async) stopped.value.then(() => this.#stop())
    this.#poll()
  }

  #poll = () => {
    if (Atomics.load(shared, STOP) !== 0) return this.#stop()
    const nowMs = clock.sharedMs()
    const stoppedMs = this.#stoppedMs(nowMs)
    const isSlow = stoppedMs >= slowMs
    const pollMs = isSlow ? periodMs : Math.max(slowMs - stoppedMs, MIN_POLL_MS)
    this.#dueMs = nowMs + pollMs
    clock.wait(pollMs, this.#poll)
    const beat = this.#beat
    if (!isSlow || beat === this.#askedBeat || clock.now() < this.#restUntilMs) return
    this.#askedBeat = beat
    this.#isAsked = true
    this.#channel.pause(() => {
      this.#askedMs = clock.now()
    })
  }

  /** How long ago the last beat was. The time in which this thread did not run is subtracted: then the host may be starved. */
  #stoppedMs(nowMs) {
    const beat = Atomics.load(shared, BEAT)
    const ageMs = (nowMs - beat) | 0
    const lateMs = (nowMs - this.#dueMs) | 0
    if (beat !== this.#beat) this.#lostMs = 0
    this.#beat = beat
    if (lateMs > MAX_LATE_MS) this.#lostMs += Math.min(lateMs, ageMs)
    return ageMs - this.#lostMs
  }

  #onEvent(method, params) {
    if (method === 'Debugger.scriptParsed') return this.#addScript(params)
    if (method !== 'Debugger.paused') return
    // At the limit of the heap V8 pauses for the debugger, with a limit four times as high for as long as one is there.
    if (params.reason === 'OOM') return this.#stop(HEAP_IS_FULL)
    // A `debugger` statement or another debugger paused the process. Do not resume it, and stop watching.
    if (!this.#isAsked) return this.#stop()
    this.#isAsked = false
    const pausedMs = clock.now()
    try {
      const { callFrames } = params
      const delayMs = pausedMs - this.#askedMs
      const frames = callFrames.slice(0, MAX_FRAMES).map((frame) => this.#frameOf(frame))
      // Before the thread goes on: it reads the message at the end of its turn.
      port.postMessage({ delayMs, frames })
      this.#channel.evaluate(callFrames[0].callFrameId, expression)
    } finally {
      this.#channel.resume(() => {
        const doneMs = clock.now()
        this.#restUntilMs = doneMs + restAfterMs(doneMs - pausedMs, params.callFrames.length)
      })
    }
  }

  /** Scripts without an address come from `eval` and `vm`, and their number has no bound. */
  #addScript({ scriptId, url }) {
    if (url !== '' && this.#urls.size < MAX_SCRIPTS) this.#urls.set(scriptId, url)
  }

  #frameOf({ functionName, functionLocation, location, url }) {
    return {
      name: functionName,
      url: url || this.#urls.get(location.scriptId) || '',
      line: location.lineNumber + 1,
      column: location.columnNumber ?? 0,
      begin: functionLocation === undefined ? 0 : functionLocation.lineNumber + 1,
    }
  }

  #stop(code = 0) {
    if (this.#isStopped) return
    this.#isStopped = true
    try {
      this.#channel.close()
    } finally {
      Atomics.store(shared, PHASE, DISCONNECTED)
      Atomics.notify(shared, PHASE)
      process.exit(code)
    }
  }
}

new Watch().start()
