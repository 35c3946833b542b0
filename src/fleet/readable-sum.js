'use strict'
// Adds up the reports of a fleet that can be read. What is wrong inside of a report is found while it is added, when half of
// it is in the sum: then each report is tried alone, those at fault are put aside, and the others are added up anew.

const { Slices } = require('./time-slices')
const { Sum } = require('./report-sum')

/** @typedef {import('./poll-members').Member & { worker: string }} NamedMember */

/** For so long a report stands by itself: its last minute is still part of the fleet's. */
const RECENT_MS = 60_000

const isRecent = (head, wallMs) => Math.abs(wallMs - head.at) < RECENT_MS

/**
 * What the departed have counted, to be added up as the report of a member is.
 *
 * @param {import('./poll-members').Departed} departed
 * @returns {NamedMember[]}
 */
function membersOf({ report, head, error }) {
  const each = { id: 'departed', worker: '', report, head, error }
  if (report !== undefined) return [{ ...each, state: 'departed' }]
  return error === undefined ? [] : [{ ...each, state: 'unreadable' }]
}

class ReadableSum {
  #withRoutes
  #wallMs
  #slices

  /** @param {{ clock: any, withRoutes: boolean }} parts */
  constructor({ clock, withRoutes }) {
    this.#withRoutes = withRoutes
    this.#wallMs = clock.wallMs()
    this.#slices = new Slices(clock)
  }

  /**
   * @param {NamedMember[]} members
   * @param {import('./poll-members').Departed} departed
   * @param {InstanceType<typeof Sum>} [spare] the sum of a scrape before
   * @returns {Promise<{ sum: InstanceType<typeof Sum>, members: NamedMember[], departed: import('./poll-members').Departed }>} those put aside are
   *   members that are unreadable, and departed without a report
   */
  async of(members, departed, spare = new Sum()) {
    const all = [...members, ...membersOf(departed)]
    try {
      return { sum: await this.#addAll(spare, all), members, departed }
    } catch {
      const tried = []
      for (const each of all) tried.push(await this.#tried(each))
      const sum = await this.#addAll(new Sum(), tried)
      const [last] = tried.slice(members.length)
      return {
        sum,
        members: tried.slice(0, members.length),
        departed:
          last?.state === 'unreadable' ? { ...departed, report: undefined, error: last.error } : departed,
      }
    }
  }

  async #addAll(sum, members) {
    sum.begin({ withRoutes: this.#withRoutes })
    for (const member of members) await this.#add(sum, member)
    return sum
  }

  async #add(sum, { id, state, report, head, worker }) {
    if (state === 'unreadable') return
    const from = { id, worker, isGone: state === 'departed', isRecent: isRecent(head, this.#wallMs) }
    await this.#slices.run(sum.add(report, head.blocksAt, from))
  }

  /** @param {NamedMember} member @returns {Promise<NamedMember>} */
  async #tried(member) {
    try {
      await this.#addAll(new Sum(), [member])
      return member
    } catch (/** @type {any} */ error) {
      return { ...member, state: 'unreadable', error }
    }
  }
}

module.exports = { ReadableSum, isRecent }
