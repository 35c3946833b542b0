'use strict'
// The summary of a row: medians over its rounds, sums of the counts by reason, and the harm that the gate
// did. The goodput ratio is the median of the ratios of each round, because the machine's speed changes
// between rounds.

const { median } = require('../support/statistics')

const MODES = ['on', 'off', 'observe']
const shareOf = (part, whole) => (whole > 0 ? part / whole : 0)

/** @returns {number} the share answered by 503. Of an event, the share without a 200. */
const othersShedOf = ({ sent, ok, shed }, { isEvent }) => shareOf(isEvent ? sent - ok : shed, sent)
const worstShedOf = ({ bystander, others }, row) =>
  Math.max(shareOf(bystander.shed, bystander.sent), othersShedOf(others, row))

function sumByReason(counts) {
  const sums = {}
  for (const each of counts)
    for (const [reason, count] of Object.entries(each)) sums[reason] = (sums[reason] ?? 0) + count
  return sums
}

const total = (counts) => Object.values(counts).reduce((sum, count) => sum + count, 0)

/** @returns {Record<string, any>} the figures of all rounds in one mode */
function summaryOf(runs, row) {
  const middle = (figureOf) => median(runs.map(figureOf))
  const latencies = runs
    .map(({ bystander, others }) => bystander.p99Ms ?? others.p99Ms)
    .filter((p99Ms) => p99Ms !== null)
  const wouldShed = sumByReason(runs.map((run) => run.wouldShed))
  const sent = runs.reduce((sum, { bystander, others }) => sum + bystander.sent + others.sent, 0)
  return {
    bystanderShed:
      runs[0].bystander.sent > 0 ? middle(({ bystander }) => shareOf(bystander.shed, bystander.sent)) : null,
    othersShed: middle(({ others }) => othersShedOf(others, row)),
    worstShed: Math.max(...runs.map((run) => worstShedOf(run, row))),
    othersSent: middle(({ others }) => others.sent),
    failed: middle(({ bystander, others }) => bystander.failed + others.failed),
    goodput: middle(({ goodput }) => goodput),
    goodputs: runs.map(({ goodput }) => Math.round(goodput)),
    p99Ms: latencies.length > 0 ? median(latencies) : null,
    cpu: middle(({ cpu }) => cpu),
    foreign: middle(({ foreign }) => foreign),
    shedPerSecond: middle(({ shedPerSecond }) => shedPerSecond),
    reasons: sumByReason(runs.map(({ reasons }) => reasons)),
    wouldShed,
    wouldShedShare: shareOf(total(wouldShed), sent),
  }
}

/**
 * @param {any} row
 * @param {Record<string, any>[]} rounds runs by mode; a mode is missing where its run failed
 */
function summarize(row, rounds) {
  const result = { name: row.name, framework: row.framework, isEvent: row.isEvent ?? false, modes: {} }
  for (const mode of MODES) {
    const runs = rounds.map((round) => round[mode]).filter((run) => run !== undefined)
    if (runs.length > 0) result.modes[mode] = summaryOf(runs, row)
  }
  const both = rounds.filter(({ on, off }) => on !== undefined && off !== undefined && off.goodput > 0)
  result.goodputRatio = both.length > 0 ? median(both.map(({ on, off }) => on.goodput / off.goodput)) : null
  result.harm = harmOf(row, result)
  return result
}

const percent = (share) => `${(share * 100).toFixed(1)} %`

/**
 * Checks the bounds that the row has.
 * @returns {string | null} what the gate did wrong
 */
function harmOf({ mostShed = 1, leastGoodput = 0, mostP99Ms = Infinity, isEvent }, { modes, goodputRatio }) {
  const { on, off } = modes
  if (on === undefined) return 'was not measured'
  if (goodputRatio !== null && goodputRatio < leastGoodput) return `${goodputRatio.toFixed(2)} of the goodput`
  // The median would hide a gate that latches in one round of three. Some clients of an event may get no
  // answer without the gate either.
  const worst = on.worstShed - (isEvent ? (off?.othersShed ?? 0) : 0)
  if (worst > mostShed) return `${percent(worst)} ${isEvent ? 'not completed' : 'shed'} at worst`
  return on.p99Ms > mostP99Ms ? `p99 ${Math.round(on.p99Ms)} ms` : null
}

module.exports = { MODES, percent, summarize }
