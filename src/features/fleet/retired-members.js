'use strict'
// Retires departed members: adds their reports up into one common report, so that a scrape stays cheap after
// weeks of restarts. A living member retires departed members: it writes the next generation of the common
// report, and then removes the reports whose counts that generation contains. A hard link makes sure that a
// generation is written once. The generation lists its members, so that a report not removed yet is not
// counted twice. A lock would not do, because the holder of a lock might be killed.

const { ReadableSum, isRecent } = require('./readable-sum')
const { headOf, putInto } = require('./report')
const { TimeSlices } = require('./time-slices')

/**
 * @import { Clock } from '../../core/clock'
 * @import { Directory } from './directory'
 * @import { OwnMetrics } from './metric-names'
 * @import { NamedReadable, Poll, Retired } from './poll-members'
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

module.exports = { retireMembers }
