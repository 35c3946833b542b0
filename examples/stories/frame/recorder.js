'use strict'
// What the clients of a story saw: each answer with its time, in parts by name ("POST /login"), and second by
// second. An error is a request without an answer, or with a status of 500 and more. A 503 is counted apart:
// the server refused it in time.

const SERVER_ERROR = 500
const REJECTED = 503

class Recorder {
  #parts = new Map()
  #startedMs = performance.now()
  /** Length of the load, without the time of its last requests. @type {number | undefined} */
  #seconds

  /** @param {string[]} [names] of the parts, in the order of the table */
  constructor(names = []) {
    for (const name of names) this.#partOf(name)
  }

  /**
   * @param {string} name
   * @param {number} ms from when the request was due until its end
   * @param {number} status 0 without an answer
   * @param {string} [why] there is none
   */
  record(name, ms, status, why) {
    const second = Math.floor(this.#elapsedSeconds())
    const part = this.#partOf(name)
    const at = (part.seconds[second] ??= newSum())
    for (const sum of [part.total, at]) add(sum, ms, status)
    if (status === 0) part.failures[why ?? 'no answer'] = (part.failures[why ?? 'no answer'] ?? 0) + 1
  }

  /**
   * The figures of one second, for a line of progress: of one part, or of all together. Here a request
   * without an answer is no error, so that the three counts are of different requests.
   * @param {number} second
   * @param {string} [name]
   */
  ofSecond(second, name) {
    const parts = name === undefined ? [...this.#parts.values()] : [this.#partOf(name)]
    const sums = parts.flatMap(({ seconds }) => seconds[second] ?? [])
    const times = sums.flatMap((sum) => sum.times)
    const total = (key) => sums.reduce((count, sum) => count + sum[key], 0)
    const unanswered = total('unanswered')
    return {
      served: times.length - unanswered,
      unanswered,
      errors: total('errors') - unanswered,
      p99Ms: quantile(ascending(times), 0.99),
    }
  }

  /** The load sends no more. */
  end() {
    this.#seconds = this.#elapsedSeconds()
  }

  report() {
    const seconds = this.#seconds ?? this.#elapsedSeconds()
    return {
      seconds,
      parts: [...this.#parts].map(([name, { failures, total, seconds: each }]) => ({
        name,
        failures,
        ...figuresOf(total, seconds),
        seconds: Array.from({ length: Math.floor(seconds) }, (_, i) => figuresOf(each[i] ?? newSum(), 1)),
      })),
    }
  }

  #elapsedSeconds() {
    return (performance.now() - this.#startedMs) / 1000
  }

  #partOf(name) {
    const part = this.#parts.get(name) ?? { total: newSum(), seconds: [], failures: {} }
    this.#parts.set(name, part)
    return part
  }
}

const newSum = () => ({ times: [], errors: 0, rejected: 0, unanswered: 0 })

function add(sum, ms, status) {
  if (status === REJECTED) sum.rejected++
  else {
    // What a client waited in vain is a time that it lived through.
    sum.times.push(ms)
    if (status === 0) sum.unanswered++
    if (status === 0 || status >= SERVER_ERROR) sum.errors++
  }
}

function figuresOf({ errors, rejected, times, unanswered }, seconds) {
  const sorted = ascending(times)
  const sumMs = sorted.reduce((sum, ms) => sum + ms, 0)
  return {
    count: sorted.length,
    perSecond: round((sorted.length - unanswered) / seconds),
    meanMs: sorted.length === 0 ? null : round(sumMs / sorted.length),
    p50Ms: quantile(sorted, 0.5),
    p95Ms: quantile(sorted, 0.95),
    p99Ms: quantile(sorted, 0.99),
    maxMs: quantile(sorted, 1),
    errors,
    unanswered,
    rejected,
  }
}

const ascending = (times) => times.sort((a, b) => a - b)
const round = (value) => Math.round(value * 10) / 10
const quantile = (sorted, share) =>
  sorted.length === 0 ? null : round(sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)])

module.exports = { Recorder, quantile }
