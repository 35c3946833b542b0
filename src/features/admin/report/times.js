'use strict'
// Times of a report in one time zone. The report names the zone, and shows the same times to readers
// elsewhere.

const DAY = /** @type {const} */ ({ year: 'numeric', month: '2-digit', day: '2-digit' })
const TIME = /** @type {const} */ ({
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})

class Times {
  /** The zone and its offset, such as 'Europe/Berlin (GMT+1)'. */
  name
  #day
  #time

  /**
   * @param {string | undefined} zone by default the zone of this process
   * @param {number} atMs the time for which the offset is shown, because of summer time
   */
  constructor(zone, atMs) {
    const where = zone === undefined ? {} : { timeZone: zone }
    this.#day = new Intl.DateTimeFormat('en-CA', { ...where, ...DAY })
    this.#time = new Intl.DateTimeFormat('en-GB', { ...where, ...TIME })
    const { timeZone } = this.#time.resolvedOptions()
    const parts = new Intl.DateTimeFormat('en', { ...where, timeZoneName: 'shortOffset' }).formatToParts(atMs)
    const { value: offset = '' } = parts.find(({ type }) => type === 'timeZoneName') ?? {}
    this.name = timeZone === 'UTC' ? timeZone : `${timeZone} (${offset})`
  }

  /** @param {number | string} at milliseconds since the epoch, or ISO 8601 */
  time(at) {
    return this.#time.format(new Date(at))
  }

  /** @param {number | string} at */
  moment(at) {
    const date = new Date(at)
    return `${this.#day.format(date)} ${this.#time.format(date)}`
  }
}

/**
 * Returns a file name with the time, so that reports have different names.
 *
 * @param {number} atMs
 * @param {string} [zone]
 */
function reportName(atMs, zone) {
  const digits = new Times(zone, atMs).moment(atMs).replaceAll(/[-:]/g, '').replace(' ', '-')
  return `spillway-report-${digits}.html`
}

/** @param {string} name */
function isZone(name) {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined
  } catch {
    return false
  }
}

exports.Times = Times
exports.isZone = isZone
exports.reportName = reportName
