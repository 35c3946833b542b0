'use strict'
// A metric of the application may never settle, such as one whose `collect()` asks a database that does not
// answer. Such a metric is left out of the scrape. Otherwise the scrape would never end and show nothing.

/**
 * @import { Clock } from '../../clock'
 * @import { RegistryEntry } from '../scrape/prometheus'
 */

/** Prometheus gives up after 10 s by default. */
const MAX_MS = 8000
/**
 * Metrics that are still being collected for an earlier scrape. Later scrapes do not wait for these metrics
 * again.
 */
const late = new WeakSet()

/**
 * @template Result
 * @param {Clock} clock
 * @param {RegistryEntry} entry
 * @param {() => Promise<Result>} read collects the metric
 * @returns {Promise<Result>} rejects if collecting takes too long
 */
async function inTime(clock, { metric, name }, read) {
  if (late.has(metric)) throw tooLate(name)
  const reading = read()
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  const expired = new Promise((_resolve, reject) => {
    timer = clock.after(MAX_MS, () => {
      late.add(metric)
      const settle = () => late.delete(metric)
      reading.then(settle, settle)
      reject(tooLate(name))
    })
  })
  try {
    return /** @type {Result} */ (await Promise.race([reading, expired]))
  } finally {
    clock.cancel(timer)
  }
}

/** @param {string} name */
const tooLate = (name) =>
  new Error(
    `The metric '${name}' has taken more than ${MAX_MS / 1000} s to collect: it is left out until this collection has ended`
  )

module.exports = { inTime }
