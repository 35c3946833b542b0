'use strict'
// Makes a run from what the process remembers of the last ten minutes.

const { Sightings } = require('../../features/admin/report/sightings')
const { CommandError } = require('../command-error')
const { firstLines } = require('../first-lines')
const { timeOfDay } = require('../../core/readable')

/**
 * @import { LivePoint } from '../../../index.js'
 * @import { AdminClient } from '../admin-client'
 */

const SECOND_MS = 1000
/** A history that spans less has forgotten nothing. */
const FULL_MS = 590 * SECOND_MS

/**
 * @param {AdminClient} client
 * @param {{ from?: import('./span').Time, to?: import('./span').Time }} span
 * @returns {Promise<import('../../features/admin/report/run').Recorded>}
 */
async function readRemembered(client, { from, to }) {
  const options = await client.getJson('/config')
  const diagnosis = await client.getJson('/doctor')
  const end = await client.getJson('/totals')
  const { history, state } = await firstLines(client)
  const asked = {
    from: from?.(end.at) ?? Number.NEGATIVE_INFINITY,
    to: to?.(end.at) ?? Number.POSITIVE_INFINITY,
  }
  if (asked.from >= asked.to) throw new CommandError('--from must be earlier than --to.')
  const sightings = new Sightings()
  sightings.add(diagnosis)
  return {
    asked,
    points: history,
    end,
    findings: sightings.list(),
    hasVerdict: sightings.hasVerdict,
    slowest: end.snapshot.slowest,
    options,
    notices: noticesOf(history, asked, client.url),
    workers: state?.fleet?.workers.length ?? 1,
  }
}

/**
 * @param {LivePoint[]} points
 * @param {{ from: number, to: number }} asked
 * @param {string} url
 * @returns {string[]}
 */
function noticesOf(points, { from, to }, url) {
  /** @param {LivePoint} point */
  const isIn = ({ at }) => at > from && at <= to
  const [first] = points
  /** @param {number} at */
  const time = (at) => timeOfDay(new Date(at).toISOString())
  if (!points.some(isIn)) {
    const known =
      first === undefined
        ? 'nothing yet'
        : `${time(first.at - SECOND_MS)} to ${time(points[points.length - 1].at)}`
    throw new CommandError(
      `${url} has no figures of this time. It remembers the last ten minutes: ${known}. For a longer run, use --watch.`
    )
  }
  if (from === Number.NEGATIVE_INFINITY || first.at - from < 3 * SECOND_MS) return []
  const isFull = points[points.length - 1].at - first.at >= FULL_MS
  const reason = isFull
    ? 'the process remembers its last ten minutes at most'
    : 'the process, or its admin server, started then'
  return [`Figures from before ${time(first.at - SECOND_MS)} are missing: ${reason}.`]
}

module.exports = { readRemembered }
