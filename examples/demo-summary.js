'use strict'
// What came of the overload, with the gate and without: the sum of its steady seconds, and whether the machine was free
// enough for honest figures. At most 79 columns.

/** Of a core. A server under full load takes a whole one; with less, others have taken it. */
const LEAST_SHARE = 0.85
/** A load that is sent so late misses the 250 ms of its clients whatever the server does. */
const MOST_LATE_MS = 100

class Summary {
  #capacity
  /** The seconds of overload, by gate. */
  #passes = new Map()

  /** @param {number} capacity in requests a second */
  constructor(capacity) {
    this.#capacity = capacity
  }

  add(second) {
    const { gate } = second
    this.#passes.set(gate, [...(this.#passes.get(gate) ?? []), second])
  }

  lines() {
    const passes = [...this.#passes.values()].map(steadyOf)
    const isWhole = passes.every((seconds) => seconds.length === 1)
    return [
      isWhole
        ? 'One second of overload each: too short to be steady.'
        : 'The steady part: each overload without its first second.',
      ...passes.map((seconds) => this.#lineOf(seconds)),
      ...busyLines(passes.flat()),
    ]
  }

  #lineOf(seconds) {
    const [{ gate, times }] = seconds
    const perSecond = Math.round(sum(seconds, 'good') / seconds.length)
    const share = Math.round((100 * perSecond) / this.#capacity)
    return (
      `${times} times the load, gate ${gate}: ${perSecond}/s in time, ${share} % of capacity; ` +
      `probes ${sum(seconds, 'probesAnswered')} of ${sum(seconds, 'probes')}.`
    )
  }
}

const steadyOf = (seconds) => (seconds.length > 1 ? seconds.slice(1) : seconds)

const sum = (seconds, name) => seconds.reduce((total, second) => total + second[name], 0)

/** @param {{ share: number, lateMs: number }[]} seconds of overload */
function busyLines(seconds) {
  const share = sum(seconds, 'share') / seconds.length
  const lateMs = Math.max(...seconds.map((second) => second.lateMs))
  const problems = [
    ...(share < LEAST_SHARE ? [`the server had ${percent(share)} of a core, and wants a whole one`] : []),
    ...(lateMs > MOST_LATE_MS ? [`the load was sent up to ${Math.round(lateMs)} ms late`] : []),
  ]
  if (problems.length === 0) return []
  return [
    'This machine is too busy for honest figures:',
    ...problems.map((problem) => `  ${problem}.`),
    'They would be better with less beside it: it wants two cores for itself.',
  ]
}

/** @param {number | undefined} share of a core, while the capacity was measured */
const measuredBusy = (share) =>
  share < LEAST_SHARE
    ? [`Others use this machine: the server had ${percent(share)} of a core. The figures are rough.`]
    : []

const percent = (share) => `${Math.round(100 * share)} %`

module.exports = { Summary, measuredBusy }
