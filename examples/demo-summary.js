'use strict'
// Summarises the seconds of ten times the load and of the closed loops, without the gate and with it side by
// side, and warns if the machine was too busy for reliable figures. Lines have at most 79 columns.

const { TerminalTable } = require('./terminal-table')

/**
 * Share of a core. A saturated server uses a whole core; a smaller share means that other processes took the
 * rest.
 */
const MIN_SHARE = 0.85
/** Requests sent later than this can miss their 250 ms whatever the server does. */
const MAX_LATE_MS = 100

class Summary {
  #capacity
  #stream
  /** The seconds of each load, by load and gate mode. */
  #loads = new Map()

  /** @param {number} capacity requests per second */
  constructor(capacity, stream = process.stdout) {
    this.#capacity = capacity
    this.#stream = stream
  }

  add(second) {
    const name = nameOf(second)
    if (name === undefined) return
    const byGate = this.#loads.get(name) ?? {}
    byGate[second.gate] = [...(byGate[second.gate] ?? []), second]
    this.#loads.set(name, byGate)
  }

  lines() {
    const passes = [...this.#loads].flatMap(([name, byGate]) =>
      Object.values(byGate).map((seconds, i) => ({ name: i === 0 ? name : '', seconds }))
    )
    const isShort = passes.some(({ seconds }) => seconds.length === 1)
    const steady = passes.map(({ name, seconds }) => ({ name, seconds: steadyOf(seconds) }))
    const table = new TerminalTable(COLUMNS, this.#stream)
    return [
      isShort
        ? 'Some loads lasted one second: too short for a steady state.'
        : 'Steady state: each load without its first second.',
      ...table.header(),
      ...steady.map((pass) => table.row(this.#rowOf(pass))),
      ...busyLines(steady.flatMap(({ seconds }) => seconds)),
    ]
  }

  #rowOf({ name, seconds }) {
    const latenciesMs = seconds.flatMap((second) => second.latenciesMs).sort((a, b) => a - b)
    return {
      name,
      gate: seconds[0].gate,
      served: Math.round(latenciesMs.length / seconds.length),
      inTime: sum(seconds, 'good') / seconds.length / this.#capacity,
      p50Ms: quantileOf(latenciesMs, 0.5),
      p99Ms: quantileOf(latenciesMs, 0.99),
      rejected: Math.round(sum(seconds, 'rejected') / seconds.length),
      probes: `${sum(seconds, 'probesAnswered')}/${sum(seconds, 'probes')}`,
    }
  }
}

const COLUMNS = [
  { head: ['load'], width: -17, of: ({ name }) => name },
  { head: ['gate'], width: 5, of: ({ gate }) => gate },
  { head: ['served', 'a second'], width: 10, of: ({ served }) => served },
  {
    head: ['in time, of', 'capacity'],
    width: 13,
    of: ({ inTime }) => percent(inTime),
    colour: ({ inTime }) => (inTime < 0.5 ? 'red' : 'green'),
  },
  { head: ['p50', 'ms'], width: 7, of: ({ p50Ms }) => msOf(p50Ms) },
  { head: ['p99', 'ms'], width: 7, of: ({ p99Ms }) => msOf(p99Ms) },
  { head: ['rejected', 'a second'], width: 11, of: ({ rejected }) => rejected },
  { head: ['probes'], width: 9, of: ({ probes }) => probes },
]

/** Half of the capacity is not in the summary. */
function nameOf({ times, clients }) {
  if (clients !== undefined) return `${clients} clients`
  return times > 1 ? `${times}x the capacity` : undefined
}

const steadyOf = (seconds) => (seconds.length > 1 ? seconds.slice(1) : seconds)

const sum = (seconds, name) => seconds.reduce((total, second) => total + second[name], 0)

/** @param {number[]} ascending @returns {number | undefined} undefined without values */
const quantileOf = (ascending, share) => ascending[Math.ceil(ascending.length * share) - 1]

function msOf(value) {
  if (value === undefined) return '-'
  return value < 100 ? value.toFixed(1) : String(Math.round(value))
}

/** @param {{ share: number, lateMs: number }[]} seconds the seconds of the summary */
function busyLines(seconds) {
  const share = sum(seconds, 'share') / seconds.length
  const lateMs = Math.max(...seconds.map((second) => second.lateMs))
  const problems = [
    ...(share < MIN_SHARE ? [`the server had ${percent(share)} of a core and needs a whole core`] : []),
    ...(lateMs > MAX_LATE_MS ? [`requests were sent up to ${Math.round(lateMs)} ms late`] : []),
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
  share < MIN_SHARE
    ? [`The machine is busy: the server had ${percent(share)} of a core. The figures are rough.`]
    : []

const percent = (share) => `${Math.round(100 * share)} %`

module.exports = { Summary, measuredBusy, msOf, quantileOf }
