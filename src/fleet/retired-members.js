'use strict'
// What the departed have counted, in one report, so that weeks of workers come and gone are no more to read than one.
// Whoever folds writes the next generation, which a link makes exactly once, and only then removes what is in it. It names
// those it holds, so that a report that is still there is not counted twice. No lock: one who holds it might be killed.

const { ReadableSum, isRecent } = require('./readable-sum')
const { headOf, putInto } = require('./report')
const { Slices } = require('./time-slices')

const HOUR_MS = 3_600_000

/**
 * @param {any} directory
 * @param {any} clock
 * @param {import('./poll-members').Roll} roll
 * @param {string} ownId
 */
async function foldDeparted(directory, clock, { members, departed }, ownId) {
  // What a newer version has folded is left to it.
  if (departed.generation !== undefined && departed.report === undefined) return
  const wallMs = clock.wallMs()
  const old = members.filter(({ state, head }) => state === 'departed' && !isRecent(head, wallMs))
  if (old.length === 0) return keepDeparted(directory, departed, wallMs)
  const readable = new ReadableSum({ clock, withRoutes: true })
  const unnamed = old.map((each) => ({ ...each, worker: '' }))
  const { sum, members: added, departed: before } = await readable.of(unnamed, departed)
  if (before.report !== departed.report) return
  const gone = added.filter(({ state }) => state !== 'unreadable')
  const pieces = [
    headOf({
      isDeparted: true,
      ids: [...departed.stillThere, ...gone.map(({ head }) => head.id)],
      count: departed.head.count + gone.length,
    }),
  ]
  await new Slices(clock).run(putInto(pieces, sum.report(wallMs)))
  const next = (departed.generation ?? 0) + 1
  if (!(await directory.writeDeparted(next, ownId, pieces))) return
  for (const { head } of gone) await directory.remove(head.id)
  await removeOld(directory, departed.generations)
}

async function keepDeparted(directory, { generation, generations, stillThere, touchedMs }, wallMs) {
  for (const id of stillThere) await directory.remove(id)
  await removeOld(
    directory,
    generations.filter((each) => each !== generation)
  )
  if (generation !== undefined && wallMs - touchedMs > HOUR_MS) await directory.touch(generation, wallMs)
}

async function removeOld(directory, generations) {
  for (const generation of generations) await directory.removeDeparted(generation)
}

module.exports = { foldDeparted }
