'use strict'
// How long requests were in the proxy before they arrived. This is our time minus the proxy's stamp,
// corrected by the known difference of the two clocks.

const { ADVISED_BOUNDS, Buckets } = require('../../core/histogram/buckets')
const { RollingHistogram } = require('../../core/histogram/rolling')
const { ProxyClock } = require('./proxy-clock')
const { startOf } = require('./request-start')

/**
 * @import { IncomingHttpHeaders } from 'node:http'
 * @import { Clock } from '../../core/clock'
 * @import { Recorder } from '../../core/request/recorder'
 * @import { RequestRecord } from '../../core/request/request-record'
 *
 * @typedef {{ ms: number, differenceMs: number, isOdd: boolean, isQuiet: boolean,
 *   clock: ProxyClock | undefined }} Age `clock`: that of the proxy that stamped the request, if any;
 *   `isQuiet`: the process was idle; `isOdd`: an idle process, or the order of stamps, suggests that the age
 *   is wrong
 */

/**
 * No request is older than this. A greater age means that the proxy's clock is wrong, or that the stamp has
 * another unit.
 */
const MAX_MS = 300_000
/** Synchronized clocks differ by less than this. */
const MAX_AHEAD_MS = 1000
/**
 * When a request ends, a proxy with a queue sends the next one immediately. After this time without a
 * request, its queue was empty.
 */
const QUIET_MS = 20
/** How many proxies get a separate ProxyClock. */
const MAX_PROXIES = 100
/**
 * A proxy without a request for this long gives its place to a new one. If more proxies than there are places
 * send requests, those without a place share one clock. Otherwise each would lose its clock to the next.
 */
const GONE_MS = 1000
const DOUBT =
  'the stamps of a proxy are doubtful: by them, old requests came after newer ones, or while the process was idle. Until this ends, no request of this proxy is rejected for its age. Compare the clocks of the proxies, and let each proxy overwrite the header.'
const BOTH = ['x-request-start', 'x-queue-start']

class ProxyAges {
  requests = 0
  without = 0
  implausible = 0
  totalMs = 0
  #buckets = new Buckets(ADVISED_BOUNDS)
  #rolling
  #clock
  #headers
  #recorder
  #warn
  /** Clocks by the address that the proxy connects from. @type {Map<string, ProxyClock>} */
  #proxies = new Map()
  #hasWarned = new Set()

  /**
   * @param {{ clock: Clock, header: true | string, recorder: Recorder, warn: (fields: object,
   *   message: string) => void }} deps
   */
  constructor({ clock, header, recorder, warn }) {
    this.#clock = clock
    this.#headers = header === true ? BOTH : [header.toLowerCase()]
    this.#recorder = recorder
    this.#rolling = new RollingHistogram(clock.now())
    this.#buckets.add()
    this.#warn = warn
  }

  // Hot path with `proxy.requestStart`: once a request.
  /** Called when the request arrives. @param {RequestRecord} request @returns {Age} */
  measure(request) {
    const stamp = this.#stampOf(request.req.headers)
    if (stamp === undefined) return this.#unknown('without')
    const startMs = startOf(stamp)
    const differenceMs = this.#clock.wallMs() - (startMs ?? Number.NaN)
    if (!(differenceMs <= MAX_MS && differenceMs >= -MAX_AHEAD_MS))
      return this.#disbelieve(startMs, differenceMs)
    const { startedMs } = request
    const clock = this.#clockOf(request.socket?.remoteAddress ?? '', startedMs)
    const isQuiet = request.othersInFlight === 0 && startedMs - this.#recorder.endedMs > QUIET_MS
    const ms = clock.learnAge(differenceMs, isQuiet, startedMs)
    if (clock.isKnown) this.#record(ms, startedMs)
    return { ms, differenceMs, isOdd: clock.recordStamp(differenceMs, isQuiet, startedMs), isQuiet, clock }
  }

  /** @param {number} ms @param {number} nowMs */
  #record(ms, nowMs) {
    this.requests++
    this.totalMs += ms
    this.#buckets.record(0, ms / 1000)
    this.#rolling.record(ms, nowMs, false)
  }

  /** @param {IncomingHttpHeaders} headers */
  #stampOf(headers) {
    for (const name of this.#headers) if (headers[name] !== undefined) return headers[name]
    return undefined
  }

  /** @param {'without' | 'implausible'} why */
  #unknown(why) {
    this[why]++
    return { ms: 0, differenceMs: 0, isOdd: false, isQuiet: false, clock: undefined }
  }

  /** @param {number | undefined} startMs @param {number} differenceMs */
  #disbelieve(startMs, differenceMs) {
    const what =
      startMs === undefined
        ? 'is not a time'
        : differenceMs < 0
          ? `is ${seconds(-differenceMs)} s in the future`
          : `is ${seconds(differenceMs)} s old`
    this.#warnOnce(
      'implausible',
      `the timestamp of a request ${what}: the timestamp is ignored. Compare the clocks of proxy and service.`
    )
    return this.#unknown('implausible')
  }

  /** @param {string} address @param {number} nowMs */
  #clockOf(address, nowMs) {
    const key = this.#proxies.has(address) || this.#hasPlace(nowMs) ? address : ''
    let clock = this.#proxies.get(key)
    if (clock === undefined) {
      clock = new ProxyClock(
        (behindMs) =>
          this.#warnOnce(
            'clock',
            `the clock of a proxy seems ${seconds(behindMs)} s behind: this difference is subtracted from the age of each request. Synchronize the clocks.`
          ),
        () => this.#warnOnce('doubt', DOUBT)
      )
      this.#proxies.set(key, clock)
    }
    return clock
  }

  /**
   * Whether a new address gets a clock. If need be, the address that was seen longest ago loses its clock.
   *
   * @param {number} nowMs
   */
  #hasPlace(nowMs) {
    if (this.#proxies.size < MAX_PROXIES) return true
    let [oldest, oldestMs] = ['', Number.POSITIVE_INFINITY]
    for (const [address, { arrivedMs }] of this.#proxies)
      if (arrivedMs < oldestMs) [oldest, oldestMs] = [address, arrivedMs]
    return nowMs - oldestMs >= GONE_MS && this.#proxies.delete(oldest)
  }

  /** @param {string} what @param {string} sentence */
  #warnOnce(what, sentence) {
    if (this.#hasWarned.has(what)) return
    this.#hasWarned.add(what)
    this.#warn({ event: 'requestStart' }, `spillway: ${sentence}`)
  }

  /** The largest difference. Clocks that are behind come first, because they would make requests look old. */
  get clockDifferenceMs() {
    let [behindMs, aheadMs] = [0, 0]
    for (const clock of this.#proxies.values()) {
      behindMs = Math.max(behindMs, clock.behindMs)
      aheadMs = Math.max(aheadMs, clock.aheadMs)
    }
    return behindMs > 0 || aheadMs === 0 ? behindMs : -aheadMs
  }

  /** @param {number} nowMs */
  lastMinute(nowMs) {
    return this.#rolling.lastMinute(nowMs)
  }

  /** @param {Float64Array} [spare] */
  copy(spare) {
    return this.#buckets.copy(spare)
  }
}

/** @param {number} ms */
const seconds = (ms) => Math.round(ms / 100) / 10

exports.ProxyAges = ProxyAges
