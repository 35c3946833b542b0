'use strict'
// Adds up the readable reports of a fleet. An error inside a report is found while the report is added, when
// half of it may be in the sum already. Then each report is tried alone, unreadable reports are left out, and
// the others are added up again.

const { TimeSlices } = require('../time-slices')
const { ReportSum } = require('./report-sum')

/** @import { NamedMember, NamedReadable, Retired } from '../members/poll-members' */

/**
 * A member is retired only when its report is this old. Until then, its last minute is part of the fleet's
 * last minute.
 */
const RECENT_MS = 60_000

/** @param {{ at: number }} head @param {number} wallMs */
const isRecent = (head, wallMs) => Math.abs(wallMs - head.at) < RECENT_MS

/**
 * Returns the report of the retired members in the shape of a member.
 *
 * @param {Retired} retired
 * @returns {NamedMember[]}
 */
function membersOf({ report, head, error }) {
  const each = /** @type {Omit<NamedReadable, 'state'>} */ (
    /** @type {unknown} */ ({ id: 'departed', worker: '', report, head, error })
  )
  if (report !== undefined) return [{ ...each, state: 'departed' }]
  return error === undefined ? [] : [{ ...each, state: 'unreadable' }]
}

class ReadableSum {
  #withRoutes
  #wallMs
  #slices
  #own

  /**
   * @param {{ clock: import('../../../core/clock').Clock, withRoutes: boolean,
   *   own?: import('./metric-names').OwnMetrics | undefined }} deps
   */
  constructor({ clock, withRoutes, own }) {
    this.#own = own
    this.#withRoutes = withRoutes
    this.#wallMs = clock.wallMs()
    this.#slices = new TimeSlices(clock)
  }

  /**
   * @param {NamedMember[]} members
   * @param {Retired} retired
   * @param {ReportSum} [spare] the sum of an earlier scrape, to be reused
   * @returns {Promise<{ sum: ReportSum, members: NamedMember[], retired: Retired }>}
   *   reports left out are members with the state `unreadable`, and `retired` without a report
   */
  async of(members, retired, spare = new ReportSum(this.#own)) {
    const all = [...members, ...membersOf(retired)]
    try {
      return { sum: await this.#addAll(spare, all), members, retired }
    } catch {
      const tried = []
      for (const each of all) tried.push(await this.#tried(each))
      const sum = await this.#addAll(new ReportSum(this.#own), tried)
      const [last] = tried.slice(members.length)
      return {
        sum,
        members: tried.slice(0, members.length),
        retired:
          last?.state === 'unreadable' ? { ...retired, report: undefined, error: last.error } : retired,
      }
    }
  }

  /** @param {ReportSum} sum @param {NamedMember[]} members */
  async #addAll(sum, members) {
    sum.begin({ withRoutes: this.#withRoutes })
    for (const member of members) await this.#add(sum, member)
    return sum
  }

  /** @param {ReportSum} sum @param {NamedMember} member */
  async #add(sum, { id, state, report, head, worker }) {
    if (state === 'unreadable') return
    const from = { id, worker, isGone: state === 'departed', isRecent: isRecent(head, this.#wallMs) }
    await this.#slices.run(sum.add(/** @type {Buffer} */ (report), head.blocksAt, from))
  }

  /** @param {NamedMember} member @returns {Promise<NamedMember>} */
  async #tried(member) {
    try {
      await this.#addAll(new ReportSum(this.#own), [member])
      return member
    } catch (error) {
      return { ...member, state: 'unreadable', error }
    }
  }
}

/**
 * Logs each unreadable report of the fleet once, for as long as it is unreadable. `spillway_workers` counts
 * the unreadable workers.
 */
class UnreadableReports {
  /** @type {Map<string, unknown>} */
  #logged = new Map()
  #warn

  /** @param {(fields: object, message: string) => void} warn */
  constructor(warn) {
    this.#warn = warn
  }

  /**
   * @param {string | undefined} directory
   * @param {{ id: string, state: string, error?: unknown }[]} members every member of a scrape
   * @param {{ error?: unknown }} retired
   */
  logNew(directory, members, retired) {
    const errors = new Map()
    for (const { id, state, error } of members) if (state === 'unreadable') errors.set(id, error)
    if (retired.error !== undefined) errors.set('departed', retired.error)
    for (const [report, err] of errors) {
      if (this.#logged.has(report)) continue
      this.#warn({ directory, report, err }, 'spillway: a report of the fleet cannot be read and is left out')
    }
    this.#logged = errors
  }
}

exports.RECENT_MS = RECENT_MS
exports.ReadableSum = ReadableSum
exports.UnreadableReports = UnreadableReports
exports.isRecent = isRecent
