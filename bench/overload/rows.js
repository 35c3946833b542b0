'use strict'
// The result of the rounds of an overload: a row of medians for each work, load and policy, beside the bound.
// Also the row as a line of text.

const { median } = require('../support/statistics')
const { isVoid } = require('./run')

/** As a logarithm: a quarter slower or a third faster than while the capacity was measured. */
const MAX_SPEED_CHANGE = 0.288

/** One run, in shares of the capacity at the speed the machine then had. */
function measurementOf(result, capacity, work) {
  // Only where the loop is what is short does the machine's speed set the capacity.
  const speed = work === 'pool' ? 1 : result.speed / capacity.speed
  const own = capacity.rate * speed
  return {
    capacity: own,
    offered: result.offered / result.seconds / own,
    ratio: result.goodput / own,
    // Late answers too: with no policy, what the open load leaves of the capacity of a closed one.
    served: (result.good + result.late) / result.seconds / own,
    shed: result.shed / result.offered,
    late: result.late / result.offered,
    failed: result.failed / result.offered,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    critical: result.critical.offered > 0 ? result.critical.good / result.critical.offered : null,
    probes: result.probes.answered / Math.max(1, result.probes.sent),
    probeP99Ms: result.probes.p99Ms,
    sendLagP99Ms: result.sendLagP99Ms,
    foreign: result.foreign,
    speed,
  }
}

/**
 * (1 - offered x (h + r)) / (s - r), over the capacity 1 / s. Every request costs its rejection r, and h if
 * it has a connection of its own. A served request costs s instead of r. A silent connection costs h and
 * serves nothing.
 */
function boundOf({ connections, capacity, offered, silentPerSecond = 0 }, { rejectionMs, connectionMs = 0 }) {
  const perSecond = offered * capacity
  const connected = silentPerSecond + (connections === 'new' ? perSecond : 0)
  const left = 1 - (perSecond * rejectionMs + connected * connectionMs) / 1000
  return Math.min(offered, Math.max(0, left / (1 - (rejectionMs / 1000) * capacity)))
}

/**
 * @param {{ rejectionMs: number, atLoadMs?: number, connectionMs?: number } | undefined} costs of a rejection under
 *   this policy: in a closed loop, and at the load
 */
function rowOf(cell, all, costs) {
  const calm = all.filter((each) => !isVoid(each) && Math.abs(Math.log(each.speed)) < MAX_SPEED_CHANGE)
  const measured = calm.length > 0 ? calm : all
  const row = { ...cell, ...costs, calmRounds: calm.length, rounds: all.length }
  for (const key of Object.keys(measured[0])) {
    const known = measured.map((each) => each[key]).filter((value) => value !== null)
    row[key] = known.length === 0 ? null : Math.round(median(known) * 10_000) / 10_000
  }
  // A pool of ten connections is what is short there, whatever the loop could do.
  const isKnown = costs !== undefined && cell.work !== 'pool'
  row.bound = isKnown ? boundOf(row, costs) : null
  const { atLoadMs } = costs ?? {}
  row.boundAtLoad =
    isKnown && atLoadMs !== undefined ? boundOf(row, { ...costs, rejectionMs: atLoadMs }) : null
  return row
}

const percent = (value) => `${(value * 100).toFixed(1)}%`
const whole = (value) => (value === null ? '-' : value.toFixed(0))

function lineOf(row) {
  return [
    `${row.work} ${row.connections}`.padEnd(12),
    `${row.multiple}x`.padStart(5),
    row.policy.padEnd(24),
    row.ratio.toFixed(2).padStart(5),
    (row.bound === null ? '' : `of ${row.bound.toFixed(2)}`).padStart(7),
    (row.boundAtLoad === null ? '' : `(${row.boundAtLoad.toFixed(2)} at the load)`).padEnd(18),
    `served ${row.served.toFixed(2)}`.padEnd(12),
    `p50 ${whole(row.p50Ms)}`.padEnd(9),
    `p99 ${whole(row.p99Ms)}`.padEnd(9),
    `shed ${percent(row.shed)}`.padEnd(11),
    `late ${percent(row.late)}`.padEnd(11),
    `failed ${percent(row.failed)}`.padEnd(13),
    `probes ${percent(row.probes)} ${whole(row.probeP99Ms)}`.padEnd(18),
    row.critical === null ? '' : `critical ${percent(row.critical)}  `,
    `speed ${row.speed.toFixed(2)}`,
    row.calmRounds === 0 ? `VOID (others took ${percent(row.foreign)}, lag ${whole(row.sendLagP99Ms)})` : '',
  ].join(' ')
}

module.exports = { lineOf, measurementOf, rowOf }
