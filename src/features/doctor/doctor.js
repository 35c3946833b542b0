'use strict'
// Says what is wrong with the process. The doctor uses counters that exist anyway. It reads them every ten
// seconds while requests come, and keeps the readings of the last minute. It judges what happened between the
// oldest reading and now. In an idle process it reads nothing and has no timer. Findings of high severity are
// logged when they begin and when they have ended. The rules are loaded with the first diagnosis. `LongTurns`
// sums the turns that keep requests waiting.

const { CpuThrottling } = require('./cpu-throttling')
const { ProxiedConnections } = require('./proxied-connections')
const { ThreadPoolWait } = require('./thread-pool-wait')
const { ownMsOf } = require('./call-parts')
const { callsBetween } = require('./feature-figures')
const { UsualDurations, routeBetween, takeReading } = require('./reading')
const { UsualErrors } = require('./usual-errors')

/**
 * @import { Diagnosis, Finding } from '../../../index.js'
 * @import { Instance } from '../../instance'
 * @import { Deps, Reading } from './reading'
 */
/**
 * @typedef {{ route: string | null, sinceMs: number, missed: number }} Logged missed: how many looks in a row
 *   did not find it
 */

const LOOK_MS = 10_000
const WINDOW_MS = 60_000
/** Least time between two diagnoses, however many clients ask. */
const MIN_MS = 1000
/**
 * A finding has ended when this many looks in a row did not find it. One look is not enough, because some
 * problems come and go.
 */
const LOOKS_UNTIL_ENDED = 3
const NOT_ON = 'The doctor is off: `insight.doctor` is false, or this spillway is closed.'
/** With fewer requests in ten seconds, timers and scrapes would dominate the loop time per request. */
const FEWEST_FOR_COST = 50
/** How many heap sizes after collections are remembered. */
const MAX_HEAPS = 12
/** On a full loop a request waits for about two turns. Users notice two turns of this length. */
const LONG_TURN_MS = 20
/** Noticed at any load, because a request that comes meanwhile waits for the rest of the turn. */
const VERY_LONG_TURN_MS = 50

class Doctor {
  #deps
  #isOn
  #own
  #read
  #info
  #warn
  /** Readings of the last minute, oldest first. @type {Reading[]} */
  #readings = []
  /** Requests that had ended, plus messages that had come, when the doctor went to rest. */
  #endedBefore = 0
  #usual = new UsualDurations()
  #usualErrors = new UsualErrors()
  /**
   * Loop time per request: between the last two looks, and the least so far.
   *
   * @type {{ lastMs: number, leastMs: number } | undefined}
   */
  #cost
  /**
   * Heap size after the last major collection before each look, if there was a collection.
   *
   * @type {{ atMs: number, bytes: number }[]}
   */
  #heaps = []
  /** @type {Diagnosis | undefined} */
  #last
  #lastMs = Number.NEGATIVE_INFINITY
  /** The findings of high severity that were logged, by problem. @type {Map<Finding['problem'], Logged>} */
  #logged = new Map()
  /** @type {NodeJS.Timeout | undefined} */
  #timer

  /**
   * @param {{ deps: Deps, isOn: boolean,
   *   warn: (fields: object, message: string) => void, info: (fields: object, message: string) => void,
   *   read?: typeof takeReading }} given read: for tests
   */
  constructor({ deps, isOn, warn, info, read = takeReading }) {
    this.#deps = deps
    this.#own = {
      cpuThrottling: new CpuThrottling(),
      longTurns: new LongTurns(),
      proxies: new ProxiedConnections(deps.recorder.requests, deps.entrance.connectionEvents),
      threadPool: new ThreadPoolWait(deps.clock),
    }
    // With a frozen clock, such as the fake timers of a test suite, no look would ever come.
    this.#isOn = isOn && !deps.clock.isFrozen
    this.#read = () => read(deps, this.#own)
    this.#info = info
    this.#warn = warn
  }

  // Hot path: once a loop turn, a few comparisons.
  /**
   * Wakes the doctor if a request has come since it went to rest.
   *
   * @param {number} busyMs
   * @param {number} nowMs
   */
  onEachTurn(busyMs, nowMs) {
    if (!this.#isOn) return
    const { recorder, startedFeatures } = this.#deps
    const { requests } = recorder
    const ended = requests.ended + (startedFeatures.sockets?.connections.received ?? 0)
    this.#own.longTurns.onTurn(busyMs, ended)
    this.#own.threadPool.onTurn(busyMs, nowMs, requests.size, ended)
    this.#own.proxies.onTurn(nowMs)
    if (this.#timer !== undefined) return
    if (requests.size === 0 && ended === this.#endedBefore) return
    this.#schedule()
    this.#deps.internalErrors.guard('doctor', () => this.#wake())
  }

  #wake() {
    this.#readings = [this.#read()]
  }

  /**
   * Returns the causes found by the last look. A scrape does not cause a look. Effects are left out, because
   * one cause would otherwise raise two alerts.
   */
  sample() {
    return this.#last?.findings.filter(({ effectOf }) => effectOf === null) ?? []
  }

  /** @returns {Diagnosis} */
  diagnose() {
    const { unknownDiagnosis } = require('./diagnosis')
    if (!this.#isOn) return unknownDiagnosis(this.#wall(), NOT_ON)
    const { clock } = this.#deps
    const nowMs = clock.now()
    if (this.#last !== undefined && nowMs - this.#lastMs < MIN_MS) return this.#last
    if (this.#readings.length === 0)
      return unknownDiagnosis(this.#wall(), 'Not enough traffic to tell: no request in the last minute.')
    return this.#judge(this.#read())
  }

  #schedule() {
    this.#timer = this.#deps.clock.after(LOOK_MS, () => {
      this.#timer = undefined
      if (this.#isOn) this.#deps.internalErrors.guard('doctor', () => this.#look())
    })
  }

  #look() {
    const now = this.#read()
    this.#recordHeap(now)
    for (const series of this.#deps.recorder.routes.series) series.load.endSlice()
    this.#deps.startedFeatures.pools?.samples.endSlices()
    const before = /** @type {Reading} */ (this.#readings.at(-1))
    this.#recordCost(before, now)
    this.#log(this.#judge(now).findings)
    this.#recordUsual(before, now)
    this.#readings.push(now)
    const [oldest] = this.#readings
    const isMinute = now.atMs - oldest.atMs >= WINDOW_MS
    const isQuiet = oldest.ended === now.ended && oldest.messages === now.messages
    if (isMinute && isQuiet && this.#deps.recorder.requests.size === 0) return this.#rest()
    // After a suspension of the process, several readings are too old.
    while (now.atMs - this.#readings[0].atMs >= WINDOW_MS) this.#readings.shift()
    this.#schedule()
  }

  /** Called when no request came for a minute. Any problem has ended, or affects no client. */
  #rest() {
    for (const problem of this.#logged.keys()) this.#logEnd(problem)
    const { recorder, startedFeatures } = this.#deps
    this.#endedBefore = recorder.requests.ended + (startedFeatures.sockets?.connections.received ?? 0)
    this.#readings = []
    this.#last = undefined
  }

  /** @param {Reading} now */
  #judge(now) {
    const { diagnose } = require('./diagnosis')
    const { figuresOf } = require('./figures')
    const figures = figuresOf(this.#deps, {
      readings: this.#readings,
      now,
      usual: this.#usual,
      usualErrors: this.#usualErrors,
      recent: this.#heaps,
      cost: this.#cost,
    })
    this.#last = diagnose(figures, this.#wall())
    this.#lastMs = now.atMs
    return this.#last
  }

  /**
   * Records the heap if it differs, because a different size comes from a new collection.
   *
   * @param {Reading} reading
   */
  #recordHeap({ atMs, heapAfterBytes }) {
    if (heapAfterBytes === undefined || this.#heaps.at(-1)?.bytes === heapAfterBytes) return
    this.#heaps.push({ atMs, bytes: heapAfterBytes })
    if (this.#heaps.length > MAX_HEAPS) this.#heaps.shift()
  }

  /** @param {Reading} before @param {Reading} now */
  #recordUsual(before, now) {
    for (const [index, series] of this.#deps.recorder.routes.series.entries()) {
      const { count, ms } = routeBetween(before, now, index)
      this.#usual.onLook(series, count, ms / count)
    }
    const calls = callsBetween(before.outgoing, now.outgoing, this.#usual) ?? []
    const uses = callsBetween(before.poolUses, now.poolUses, this.#usual) ?? []
    for (const each of calls) this.#usualErrors.onLook(each.key, each.count, each.errors ?? 0)
    for (const each of [...calls, ...uses]) this.#usual.onLook(each.key, each.count, ownMsOf(each))
  }

  /** @param {Reading} before @param {Reading} now */
  #recordCost(before, now) {
    let requests = now.messages - before.messages
    const { length } = this.#deps.recorder.routes.series
    for (let index = 0; index < length; index++) requests += routeBetween(before, now, index).count
    if (requests < FEWEST_FOR_COST) return
    const lastMs = ranBetween(before, now) / requests
    this.#cost = { lastMs, leastMs: Math.min(lastMs, this.#cost?.leastMs ?? lastMs) }
  }

  /** @param {readonly Finding[]} findings */
  #log(findings) {
    for (const finding of findings) {
      const { effectOf, problem, severity } = finding
      if (effectOf === null && severity === 'high' && !this.#logged.has(problem)) this.#logBegin(finding)
    }
    const found = new Set(findings.map(({ problem }) => problem))
    for (const [problem, logged] of this.#logged) {
      logged.missed = found.has(problem) ? 0 : logged.missed + 1
      if (logged.missed >= LOOKS_UNTIL_ENDED) this.#logEnd(problem)
    }
  }

  /** @param {Finding} finding */
  #logBegin({ problem, severity, share, route, summary, advice }) {
    this.#logged.set(problem, { route, sinceMs: this.#deps.clock.now(), missed: 0 })
    const fields = {
      event: 'finding',
      problem,
      severity,
      share: Math.round(share * 1000) / 1000,
      route,
      advice,
    }
    this.#warn(fields, `spillway: ${summary}`)
  }

  /** @param {Finding['problem']} problem */
  #logEnd(problem) {
    const { route, sinceMs } = /** @type {Logged} */ (this.#logged.get(problem))
    this.#logged.delete(problem)
    const seconds = Math.round((this.#deps.clock.now() - sinceMs) / 1000)
    this.#info(
      { event: 'findingEnded', problem, route, seconds },
      `spillway: ${problem} has ended after ${seconds} s`
    )
  }

  #wall() {
    return new Date(this.#deps.clock.wallMs()).toISOString()
  }

  close() {
    this.#isOn = false
    if (this.#timer !== undefined) this.#deps.clock.cancel(this.#timer)
    this.#readings = []
    this.#last = undefined
  }
}

/**
 * Returns the time that the loop worked, without waits for a CPU if these are known.
 *
 * @param {Reading} before
 * @param {Reading} now
 */
const ranBetween = (before, now) =>
  before.scheduler === undefined || now.scheduler === undefined
    ? now.loopActiveMs - before.loopActiveMs
    : now.scheduler.ranMs - before.scheduler.ranMs

/** @param {Deps & Pick<Instance, 'info' | 'options' | 'warn'>} deps */
function doctorOf(deps) {
  const { info, options, warn } = deps
  return new Doctor({ deps, info, warn, isOn: options.insight.doctor })
}

/**
 * Sums the loop turns that kept everything else waiting: their number, their length, and how many requests
 * ended in them. A turn with fifty requests of 2 ms each is a full loop. A turn of 100 ms for one request is
 * a blocked loop.
 */
class LongTurns {
  #long = { count: 0, ms: 0, requests: 0 }
  #veryLong = { count: 0, ms: 0, requests: 0 }
  #endedBefore = 0

  // Hot path: once a loop turn, one comparison.
  /** @param {number} busyMs @param {number} ended how many requests have ended so far, ever */
  onTurn(busyMs, ended) {
    if (busyMs >= LONG_TURN_MS) this.#record(busyMs, ended - this.#endedBefore)
    this.#endedBefore = ended
  }

  /** @param {number} busyMs @param {number} requests */
  #record(busyMs, requests) {
    addTurn(this.#long, busyMs, requests)
    if (busyMs >= VERY_LONG_TURN_MS) addTurn(this.#veryLong, busyMs, requests)
  }

  /** Sums since the start. */
  sample() {
    return { long: { ...this.#long }, veryLong: { ...this.#veryLong } }
  }
}

/**
 * @param {{ count: number, ms: number, requests: number }} sum
 * @param {number} busyMs
 * @param {number} requests
 */
function addTurn(sum, busyMs, requests) {
  sum.count++
  sum.ms += busyMs
  sum.requests += requests
}

exports.Doctor = Doctor
exports.LONG_TURN_MS = LONG_TURN_MS
exports.LOOK_MS = LOOK_MS
exports.LongTurns = LongTurns
exports.VERY_LONG_TURN_MS = VERY_LONG_TURN_MS
exports.doctorOf = doctorOf
