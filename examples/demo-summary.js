'use strict'
// Summarises the seconds of overload with and without the gate, and warns if the machine was too busy for reliable
// figures. Lines have at most 79 columns.

/** Share of a core. A saturated server uses a whole core; a smaller share means that other processes took the rest. */
const LEAST_SHARE = 0.85
/** Requests sent later than this can miss their 250 ms whatever the server does. */
const MOST_LATE_MS = 100

class Summary {
  #capacity
  /** The seconds of overload, by gate mode. */
  #passes = new Map()

  /** @param {number} capacity requests per second */
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
        ? 'One second of overload per pass: too short for a steady state.'
        : 'Steady state: each overload without its first second.',
      ...passes.map((seconds) => this.#lineOf(seconds)),
      ...busyLines(passes.flat()),
    ]
  }

  #lineOf(seconds) {
    const [{ gate, times }] = seconds
    const perSecond = Math.round(sum(seconds, 'good') / seconds.length)
    const share = Math.round((100 * perSecond) / this.#capacity)
    return (
      `${times}x load, gate ${gate}: ${perSecond}/s in time (${share} % of capacity), ` +
      `probes ${sum(seconds, 'probesAnswered')} of ${sum(seconds, 'probes')}.`
    )
  }
}

const steadyOf = (seconds) => (seconds.length > 1 ? seconds.slice(1) : seconds)

const sum = (seconds, name) => seconds.reduce((total, second) => total + second[name], 0)

/** @param {{ share: number, lateMs: number }[]} seconds the seconds of overload */
function busyLines(seconds) {
  const share = sum(seconds, 'share') / seconds.length
  const lateMs = Math.max(...seconds.map((second) => second.lateMs))
  const problems = [
    ...(share < LEAST_SHARE ? [`the server had ${percent(share)} of a core and needs a whole core`] : []),
    ...(lateMs > MOST_LATE_MS ? [`requests were sent up to ${Math.round(lateMs)} ms late`] : []),
  ]
  if (problems.length === 0) return []
  return [
    'This machine is too busy for reliable figures:',
    ...problems.map((problem) => `  ${problem}.`),
    'Stop other programs and run the demo again: it needs two free cores.',
  ]
}

/** @param {number | undefined} share of a core that the server had while its capacity was measured */
const measuredBusy = (share) =>
  share < LEAST_SHARE
    ? [`The machine is busy: the server had ${percent(share)} of a core. The figures are rough.`]
    : []

const percent = (share) => `${Math.round(100 * share)} %`

module.exports = { Summary, measuredBusy }
