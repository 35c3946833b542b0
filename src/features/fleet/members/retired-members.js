'use strict'
// Retires departed members: adds their reports up into one common report, so that a scrape stays cheap after
// weeks of restarts. A living member retires departed members: it writes the next generation of the common
// report, and then removes the reports whose counts that generation contains. A hard link makes sure that a
// generation is written once. The generation lists its members, so that a report not removed yet is not
// counted twice. A lock would not do, because the holder of a lock might be killed.

const { ReadableSum, RECENT_MS, isRecent } = require('../reports/readable-sum')
const { headOf, putInto } = require('../reports/report')
const { TimeSlices } = require('../time-slices')

/**
 * @import { Clock } from '../../../core/clock'
 * @import { Directory } from './directory'
 * @import { OwnMetrics } from '../reports/metric-names'
 * @import { NamedReadable, Poll, Retired } from './poll-members'
 *
 * @typedef {{ id: string | undefined, fromMs: number, toMs: number }} Life of a departed member; without an
 *   id: of all retired members
 */

const HOUR_MS = 3_600_000

/**
 * @param {Directory} directory
 * @param {Clock} clock
 * @param {Poll} poll
 * @param {string} ownId
 * @param {OwnMetrics} [own]
 */
async function retireMembers(directory, clock, { members, retired }, ownId, own) {
  // The report may be of a newer version, which this version must not replace.
  if (retired.generation !== undefined && retired.report === undefined) return
  const wallMs = clock.wallMs()
  const old = members.filter(({ state, head }) => state === 'departed' && !isRecent(head, wallMs))
  if (old.length === 0) return keepRetired(directory, retired, wallMs)
  const readable = new ReadableSum({ clock, withRoutes: true, own })
  const unnamed = old.map((each) => ({ ...each, worker: '' }))
  const { sum, members: added, retired: before } = await readable.of(unnamed, retired)
  if (before.report !== retired.report) return
  const newlyRetired = /** @type {NamedReadable[]} */ (added.filter(({ state }) => state !== 'unreadable'))
  const pieces = [
    headOf({
      isDeparted: true,
      ids: [...retired.stillThere, ...newlyRetired.map(({ head }) => head.id)],
      count: retired.head.count + newlyRetired.length,
    }),
  ]
  await new TimeSlices(clock).run(putInto(pieces, sum.report(wallMs)))
  const next = (retired.generation ?? 0) + 1
  if (!(await directory.writeRetired(next, ownId, pieces))) return
  for (const { head } of newlyRetired) await directory.remove(head.id)
  await removeOld(directory, retired.generations)
}

/**
 * Removes the reports of an earlier fleet with the same key: no member was alive for a minute after it. The
 * members that are alive now do not prove that this fleet goes on, because they may have just started.
 *
 * @param {Directory} directory
 * @param {Poll} poll
 * @returns {Promise<boolean>} whether there was such a fleet
 */
async function removeEarlierFleet(directory, { members, retired }) {
  const ended = livesBeforeGap({ members, retired })
  for (const { id } of ended) {
    if (id !== undefined) await directory.remove(id)
    else {
      // Without the common report, their own reports would count again. So these are removed first.
      for (const each of retired.stillThere) await directory.remove(each)
      await removeOld(directory, retired.generations)
    }
  }
  return ended.length > 0
}

/** The lives that ended a minute before any later life began. @param {Poll} poll */
function livesBeforeGap({ members, retired }) {
  /** @type {Life[]} */
  const lives = []
  let sinceMs = Number.POSITIVE_INFINITY
  for (const { id, state, head } of members) {
    if (state === 'departed') lives.push({ id, fromMs: head.startedAt, toMs: head.at })
    // The start of an unreadable member is unknown.
    else sinceMs = Math.min(sinceMs, head?.startedAt ?? Number.NEGATIVE_INFINITY)
  }
  if (retired.generation !== undefined)
    lives.push({ id: undefined, fromMs: Number.NEGATIVE_INFINITY, toMs: retired.touchedMs })
  lives.sort((a, b) => b.toMs - a.toMs)
  for (const [i, { fromMs, toMs }] of lives.entries()) {
    if (sinceMs - toMs >= RECENT_MS) return lives.slice(i)
    sinceMs = Math.min(sinceMs, fromMs)
  }
  return []
}

/** @param {Directory} directory @param {Retired} retired @param {number} wallMs */
async function keepRetired(directory, { generation, generations, stillThere, touchedMs }, wallMs) {
  for (const id of stillThere) await directory.remove(id)
  await removeOld(
    directory,
    generations.filter((each) => each !== generation)
  )
  if (generation !== undefined && wallMs - touchedMs > HOUR_MS) await directory.touch(generation, wallMs)
}

/** @param {Directory} directory @param {number[]} generations */
async function removeOld(directory, generations) {
  for (const generation of generations) await directory.removeRetired(generation)
}

module.exports = { removeEarlierFleet, retireMembers }
