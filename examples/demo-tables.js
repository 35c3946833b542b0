'use strict'
// What the demo shows: a line a second while the load runs, what came of it with the gate and without, and a table of
// the routes. What was in time, the p99 and the probes are the clients'; errors and refusals are from spillway's
// snapshot. At most 79 columns.

const { TerminalTable } = require('./terminal-table')

const LONGEST_BAR = 8
const CLASSES = ['critical', 'normal', 'low']

class SecondsTable {
  #table
  #rows = 0
  #capacity = 0
  #before
  /** By gate, of the seconds of overload: how many, in time, probes. */
  #passes = new Map()

  constructor(stream = process.stdout) {
    const block = stream.isTTY ? '▇' : '#'
    const shedOf = (priority) => (row) => row.shed[priority]
    this.#table = new TerminalTable(
      [
        { head: ['s'], width: 3, of: (row) => row.second },
        { head: ['gate'], width: 5, of: (row) => row.gate },
        {
          head: ['load'],
          width: 6,
          of: (row) => `${row.times}x`,
          colour: (row) => (row.times > 1 ? 'red' : 'green'),
        },
        { head: ['offered'], width: 8, of: (row) => row.offered },
        {
          head: ['in', 'time'],
          width: 6,
          of: (row) => row.good,
          colour: (row) => (row.good < Math.min(row.offered, row.capacity) / 2 ? 'red' : 'green'),
        },
        { head: ['p99', 'ms'], width: 6, of: (row) => ms(row.p99Ms) },
        { head: ['errors'], width: 7, of: (row) => row.errors },
        { head: ['refused', 'critical'], width: 10, of: shedOf('critical') },
        { head: ['', 'normal'], width: 7, of: shedOf('normal') },
        { head: ['', 'low'], width: 5, of: shedOf('low') },
        {
          head: ['probes'],
          width: 7,
          of: (row) => `${row.probesAnswered}/${row.probes}`,
          colour: (row) => (row.probesAnswered < row.probes ? 'red' : 'green'),
        },
        {
          head: [],
          width: -LONGEST_BAR - 1,
          of: (row) => ` ${block.repeat(barLength(row))}`,
          colour: (row) => (row.good < row.capacity / 2 ? 'red' : 'green'),
        },
      ],
      stream
    )
  }

  intro(capacity, snapshot) {
    this.#capacity = capacity
    this.#before = countsOf(snapshot)
    return [
      `It can do ${capacity} a second. Now half of that, ten times it, half again.`,
      'In time: within 250 ms, the bar too. Probes: /livez, each on a new connection.',
    ]
  }

  /** The line of one second, under a header where one is due. `told` is what the load has seen of it. */
  linesOf(told, snapshot) {
    const now = countsOf(snapshot)
    const since = (name) => now[name] - this.#before[name]
    const shed = Object.fromEntries(CLASSES.map((name) => [name, since(name)]))
    const line = this.#table.row({ ...told, errors: since('errors'), shed, capacity: this.#capacity })
    this.#before = now
    if (told.times > 1) this.#note(told)
    const isHeaderDue = this.#rows++ % this.#table.rowsPerHeader() === 0
    return isHeaderDue ? [...this.#table.header(), line] : [line]
  }

  #note({ gate, times, good, probes, probesAnswered }) {
    const pass = this.#passes.get(gate) ?? { times, seconds: 0, good: 0, probes: 0, probesAnswered: 0 }
    pass.seconds++
    pass.good += good
    pass.probes += probes
    pass.probesAnswered += probesAnswered
    this.#passes.set(gate, pass)
  }

  summary() {
    return Array.from(this.#passes, ([gate, { times, seconds, good, probes, probesAnswered }]) => {
      const perSecond = Math.round(good / seconds)
      const share = Math.round((100 * perSecond) / this.#capacity)
      return (
        `${times} times the load, gate ${gate}: ${perSecond}/s in time, ${share} % of capacity; ` +
        `probes ${probesAnswered} of ${probes}.`
      )
    })
  }
}

function routeLines({ routes }) {
  const widest = Math.max('route'.length, ...routes.map(({ route }) => route.length))
  const table = new TerminalTable([
    { head: [' method'], width: -8, of: (route) => ` ${route.method}` },
    { head: ['route'], width: -widest, of: (route) => route.route },
    { head: ['count'], width: 9, of: (route) => route.sinceStart.count },
    {
      head: ['errors'],
      width: 8,
      of: (route) => route.outcomes.errored,
      colour: (route) => (route.outcomes.errored > 0 ? 'red' : undefined),
    },
    { head: ['p50 ms'], width: 9, of: (route) => ms(route.sinceStart.p50Ms) },
    { head: ['p99 ms'], width: 9, of: (route) => ms(route.sinceStart.p99Ms) },
  ])
  return [...table.header(), ...routes.map((route) => table.row(route))]
}

function countsOf({ routes, admission }) {
  const counts = { errors: routes.reduce((sum, { outcomes }) => sum + outcomes.errored, 0) }
  for (const name of CLASSES) counts[name] = 0
  for (const { priority, count } of admission.shed) if (priority in counts) counts[priority] += count
  return counts
}

function ms(value) {
  if (value === undefined) return '-'
  return value < 100 ? value.toFixed(1) : String(Math.round(value))
}

const barLength = ({ good, capacity }) => Math.min(LONGEST_BAR, Math.round((LONGEST_BAR * good) / capacity))

module.exports = { SecondsTable, routeLines }
