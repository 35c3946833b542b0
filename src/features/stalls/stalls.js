'use strict'
// Counts the stalls of the event loop, finds the cause of each, and names the function and the route. A stall
// is a loop turn that was busy for `insight.stallThreshold` or longer. A stall of the application itself
// starts the watcher, which reads the stack in later stalls. Ten minutes without a stall of the application
// stop the watcher, so a healthy process has no watcher.

const { isTested } = require('../../core/environment/deployment')
const { isInspected } = require('../../core/environment/inspected')
const { missingFor } = require('../../core/environment/permissions')
const { outputOf } = require('../../core/log/logger')
const { schedulerWait } = require('../../core/process/scheduler-wait')
const { placeOf } = require('../../core/stack-frames')
const { StallLog } = require('./stall-log')
const { CAUSES, StallSites, causeOf, stallOf } = require('./stall-sites')
const { BlockedServer, stallWatcher } = require('./stall-watcher')

/**
 * @import { Recorder } from '../../core/request/recorder'
 * @import { RequestRecord } from '../../core/request/request-record'
 * @import { Instance } from '../../instance'
 * @import { Reference } from './stall-sites'
 * @import { Served, Stack, Subscriber } from './stall-watcher'
 */

const QUIET_MS = 600_000
/** A stall before the first request is read counts as `startup`, for this long at most. */
const START_MS = 60_000
/**
 * The scheduler's figures are read at this interval, and when a stall ends. All waiting since the last
 * reading counts for the stall. They are read only when a turn ends. A reading in the middle of a stall would
 * hide the wait before it.
 */
const READ_EVERY_MS = 1000
/** The interval while the watcher runs. */
const READ_WATCHING_MS = 100
const FOLLOWING = { followsEvents: true }

/**
 * @typedef {Pick<Instance,
 *   'clock' | 'context' | 'events' | 'internalErrors' | 'options' | 'recorder' | 'runtime' | 'snapshot'>
 *   & { startedFeatures: { sockets?: { running: Running | undefined } } }} Deps
 * @typedef {{ method: string, route: string | undefined, isEvent?: boolean, request?: RequestRecord | undefined }}
 *   Running an event, or a request
 * @typedef {{ count: number, totalMs: number }} Sums
 */

/**
 * Whether Node's permission model lets the watcher read stacks. A thread that connects without permission
 * aborts the process.
 */
const mayRead = () => missingFor('stall-functions').length === 0

/**
 * Whether a stall was before the first request. Requests that come while the application starts are read at
 * the end of that turn, so they did not block it.
 *
 * @param {Recorder} recorder @param {number} atMs
 */
function isBeforeRequests({ requests, routes }, atMs) {
  if (routes.series.length > 0) return false
  for (const { startedMs } of requests) return startedMs > atMs
  return true
}

class Stalls {
  /** The time of all stalls so far. */
  totalMs = 0
  #deps
  #info
  #log
  #thresholdMs
  #watcher
  #readScheduler
  /** @type {Subscriber} */
  #subscriber
  #sites = new StallSites()
  #counts = new Map(CAUSES.map((cause) => [cause, { count: 0, totalMs: 0 }]))
  #startedMs
  #isWatching = false
  #alwaysWatches
  #canWatch
  #quietSinceMs = 0
  /**
   * The code that ran when the watcher last read the stack.
   *
   * @type {{ atMs: number, stack: Stack | undefined, reference: Reference | undefined }}
   */
  #read = { atMs: -1, stack: undefined, reference: undefined }
  #scheduler
  #schedulerMs
  #hasReportedInspected = false
  #blockedServer
  /** How long Spillway last blocked the loop itself, and when */
  #excused = { ms: 0, atMs: Number.NEGATIVE_INFINITY }

  /**
   * @param {{ deps: Deps, info: (fields: object, message: string) => void, warn: (fields: object,
   *   message: string) => void }} given
   * @param {{ watcher?: Pick<typeof stallWatcher, 'add' | 'beat' | 'markIntended' | 'publish' | 'remove' | 'serve'>,
   *   readScheduler?: typeof schedulerWait, canWatch?: boolean }} [forTests]
   */
  constructor(
    { deps, info, warn },
    { watcher = stallWatcher, readScheduler = schedulerWait, canWatch = !isTested() && mayRead() } = {}
  ) {
    this.#deps = deps
    this.#info = info
    this.#log = new StallLog(warn)
    this.#thresholdMs = deps.options.insight.stallThreshold
    this.#watcher = watcher
    this.#blockedServer = new BlockedServer(watcher, (error) => deps.internalErrors.report('listen', error))
    this.#readScheduler = readScheduler
    this.#canWatch = canWatch && !deps.clock.isFrozen
    this.#startedMs = this.#schedulerMs = deps.clock.now()
    this.#scheduler = readScheduler()
    const { insight, logger } = deps.options
    this.#subscriber = {
      thresholdMs: this.#thresholdMs,
      blocked: { output: outputOf(logger), pid: process.pid, insight },
      describe: (frames) => this.#describe(frames),
      report: () => deps.snapshot(),
      onBeat: (nowMs) => this.#onBeat(nowMs),
      onRead: (stack) => this.#onRead(stack),
      onEnd: (error) => this.#onEnd(error),
    }
    const { exitAfter, hangReport, stalls } = insight
    this.#alwaysWatches = stalls === 'always' || exitAfter > 0 || hangReport !== undefined
    if (this.#alwaysWatches) this.#watch(this.#startedMs)
  }

  // Hot path: once a loop turn.
  /** @param {number} busyMs @param {number} nowMs */
  onEachTurn(busyMs, nowMs) {
    if (this.#isWatching) this.#watcher.beat()
    if (busyMs >= this.#thresholdMs) this.#onStall(busyMs, nowMs)
    else if (nowMs - this.#schedulerMs >= (this.#isWatching ? READ_WATCHING_MS : READ_EVERY_MS))
      this.#takeScheduled(nowMs)
  }

  /**
   * Called when a profiler or another part of Spillway blocks the loop. This block is neither a stall of the
   * application nor a hang.
   *
   * @param {number | undefined} ms undefined when the block begins
   */
  excuse(ms) {
    this.#watcher.markIntended(ms === undefined)
    if (ms !== undefined) this.#excused = { ms, atMs: this.#deps.clock.now() }
  }

  /** @param {number} busyMs @param {number} nowMs */
  #onStall(busyMs, nowMs) {
    const { ms, atMs } = this.#excused
    const durationMs = busyMs - (atMs >= nowMs - busyMs ? ms : 0)
    if (durationMs < this.#thresholdMs) return
    const scheduled = this.#takeScheduled(nowMs)
    // A breakpoint would be recorded as a stall: it blocks the loop until the developer continues.
    if (isInspected()) return this.#reportInspected()
    if (this.#mayHaveIdled(scheduled, durationMs)) return this.#watch(nowMs)
    const waitedMs = Math.min(scheduled?.waitedMs ?? 0, durationMs)
    const { clock, events, recorder, runtime } = this.#deps
    const isStart = nowMs - this.#startedMs < START_MS && isBeforeRequests(recorder, nowMs - durationMs / 2)
    const seen = this.#seenSince(nowMs - durationMs)
    const cause = causeOf({
      durationMs,
      collectedMs: runtime.collections.recordPending(),
      waitedMs,
      thresholdMs: this.#thresholdMs,
      seen,
    })
    const at = new Date(clock.wallMs()).toISOString()
    const site = this.#sites.record(stallOf(cause, seen, isStart), durationMs, at)
    const total = /** @type {Sums} */ (this.#counts.get(cause))
    total.count++
    total.totalMs += durationMs
    this.totalMs += durationMs
    // Work before the first request keeps no client waiting.
    if (isStart) return
    this.#log.write(site, durationMs, nowMs, !this.#isWatching && this.#canWatch)
    events.emitWithoutLine('stall', { ...site, durationMs })
    if (cause !== 'garbage-collection' && cause !== 'host') this.#watch(nowMs)
  }

  /**
   * Whether a turn may have been idle time. When a signal ends the idle time of the loop, Node reports that
   * time as busy. So a turn does not count as a stall if the thread hardly ran or waited for a CPU in it.
   * While the watcher runs, this check is not needed, because the watcher's timer ends each idle time soon.
   *
   * @param {ReturnType<typeof schedulerWait>} scheduled
   * @param {number} durationMs
   */
  #mayHaveIdled(scheduled, durationMs) {
    return (
      !this.#isWatching && scheduled !== undefined && scheduled.ranMs + scheduled.waitedMs < durationMs / 2
    )
  }

  /**
   * The stack that the watcher read in the loop turn that began at `beganMs`; undefined if there is none
   *
   * @param {number} beganMs
   */
  #seenSince(beganMs) {
    const { atMs, stack, reference } = this.#read
    if (!this.#isWatching || stack === undefined || atMs < beganMs) return undefined
    return { ...stack, place: placeOf(stack.frames), reference }
  }

  /**
   * Called inside the code that blocks, so it only stores the time, the stack and the request.
   *
   * @param {Stack} stack
   */
  #onRead(stack) {
    try {
      this.#read.atMs = this.#deps.clock.now()
      this.#read.stack = stack
      this.#read.reference = this.#running()
    } catch {
      this.#read.reference = undefined
    }
  }

  /** Called inside code that has blocked the loop for long. @param {Stack['frames']} frames */
  #describe(frames) {
    const seen = { delayMs: 0, frames, place: placeOf(frames), reference: this.#running() }
    const { begin: _, cause: __, ...described } = stallOf('javascript', seen, false)
    return described
  }

  /**
   * The request that the running code works for. A timer or a pooled connection keeps the context of the
   * request that made it, even after that request has ended.
   *
   * @returns {Reference | undefined}
   */
  #running() {
    const { context, options, startedFeatures } = this.#deps
    /** @type {Running | undefined} */
    const reference = startedFeatures.sockets?.running ?? context.reference
    if (reference?.request === undefined && !reference?.isEvent) return undefined
    return {
      method: reference.method,
      // A stack that was read must not keep a request with a large body in memory.
      request: reference.request && new WeakRef(reference.request),
      get route() {
        return reference.route ?? options.routes.unmatched
      },
    }
  }

  /** @param {number} nowMs */
  #watch(nowMs) {
    this.#quietSinceMs = nowMs
    if (this.#isWatching || !(this.#canWatch &&= mayRead())) return
    try {
      this.#watcher.add(this.#subscriber)
      this.#isWatching = true
      this.#deps.context.turnOn(FOLLOWING)
    } catch (error) {
      // For example, a bundler may have left out the file of the thread.
      this.#onEnd(error)
    }
  }

  #unwatch() {
    if (!this.#isWatching) return
    this.#isWatching = false
    this.#watcher.remove(this.#subscriber)
    this.#deps.context.turnOff(FOLLOWING)
  }

  /** @param {number} nowMs */
  #onBeat(nowMs) {
    this.#blockedServer.onBeat(nowMs)
    if (!this.#alwaysWatches && nowMs - this.#quietSinceMs >= QUIET_MS) this.#unwatch()
    else if (isInspected()) this.#unwatch()
  }

  /**
   * Called when the watcher has failed or was ended by other code. It is not started again.
   *
   * @param {unknown} error
   */
  #onEnd(error) {
    this.#unwatch()
    this.#canWatch = false
    this.#blockedServer.onEnd(error)
    if (error !== undefined) this.#deps.internalErrors.report('insight.stalls', error)
  }

  /**
   * How long this thread has run, and waited for a CPU, since the last reading; undefined if the system does
   * not report it
   *
   * @param {number} nowMs
   */
  #takeScheduled(nowMs) {
    const before = this.#scheduler
    this.#schedulerMs = nowMs
    const now = (this.#scheduler = this.#readScheduler())
    if (before === undefined || now === undefined) return undefined
    return { ranMs: now.ranMs - before.ranMs, waitedMs: now.waitedMs - before.waitedMs }
  }

  #reportInspected() {
    if (this.#hasReportedInspected) return
    this.#hasReportedInspected = true
    this.#info(
      { event: 'stall' },
      'spillway: the event loop was blocked. Stalls are not recorded while a debugger may be attached (--inspect).'
    )
  }

  /**
   * Makes the watching thread answer while the loop is blocked. The thread watches from now on.
   *
   * @param {Pick<Served, 'file' | 'given'>} served
   * @param {() => Promise<unknown>} tell returns what the server shows
   */
  async serve(served, tell) {
    this.#alwaysWatches = true
    this.#watch(this.#deps.clock.now())
    if (!this.#isWatching)
      throw new Error(
        'no thread may watch the loop here, because of a test runner, a debugger or the permission model'
      )
    return this.#blockedServer.start(served, tell)
  }

  sample() {
    return {
      causes: CAUSES.map((cause) => ({ cause, .../** @type {Sums} */ (this.#counts.get(cause)) })),
      sites: this.#sites.list(),
    }
  }

  section() {
    const { causes, sites } = this.sample()
    /** @param {keyof Sums} key */
    const sumOf = (key) => causes.reduce((sum, each) => sum + each[key], 0)
    return { count: sumOf('count'), totalMs: sumOf('totalMs'), sites }
  }

  close() {
    this.#unwatch()
  }
}

/** @param {Deps & Pick<Instance, 'info' | 'warn'>} deps */
const stallsOf = (deps) => new Stalls({ deps, info: deps.info, warn: deps.warn })

exports.Stalls = Stalls
exports.stallsOf = stallsOf
