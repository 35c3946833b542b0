'use strict'
// What the demo shows: what each column is, a line a second while the load runs, what came of it, and a table of the
// routes. What was in time, the p99 and the probes are the clients'; errors and refusals are from spillway's snapshot.
// At most 79 columns.

const { Summary, measuredBusy } = require('./demo-summary')
const { TerminalTable } = require('./terminal-table')

const LONGEST_BAR = 8
const CLASSES = ['critical', 'normal', 'low']
const LEGEND = [
  ['s', 'the second'],
  ['gate', 'off: nothing is refused; on: spillway refuses what would be late'],
  ['load', 'how many times what the server can do'],
  ['offered', 'requests that were due in that second, answered or not'],
  ['in time', 'answers within 250 ms of when they were due; refusals are none'],
  ['p99', 'of 100 answers 99 took no longer, in ms; refusals are none'],
  ['errors', 'answers 500: /pay, one request in twelve, fails on purpose'],
  ['refused', 'answers 503: of gold clients (critical), of most, of free ones (low)'],
  ['probes', 'answers to /livez of those that were sent, each on a new connection'],
  ['the bar', 'in time, as a share of what the server can do'],
]

class SecondsTable {
  #table
  #rows = 0
  #capacity = 0
  #before
  #summary

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

  /**
   * What is to come, and what every column is.
   *
   * @param {number} [share] of a core, that the server had while its capacity was measured
   */
  intro(capacity, seconds, share) {
    this.#capacity = capacity
    this.#summary = new Summary(capacity)
    return [
      `It can do ${capacity} requests a second. Now for ${seconds} s half of that, ten times it,`,
      "half again: first without spillway's gate, then with it.",
      ...measuredBusy(share),
      '',
      ...LEGEND.map(([name, what]) => `  ${name.padEnd(9)}${what}`),
      '',
    ]
  }

  /** A pass begins: what was counted before is not its own. */
  begin(snapshot) {
    this.#before = countsOf(snapshot)
  }

  /** The line of one second, under a header where one is due. `told` is what the load has seen of it. */
  linesOf(told, snapshot) {
    const now = countsOf(snapshot)
    const since = (name) => now[name] - this.#before[name]
    const shed = Object.fromEntries(CLASSES.map((name) => [name, since(name)]))
    const line = this.#table.row({ ...told, errors: since('errors'), shed, capacity: this.#capacity })
    this.#before = now
    if (told.times > 1) this.#summary.add(told)
    const isHeaderDue = this.#rows++ % this.#table.rowsPerHeader() === 0
    return isHeaderDue ? [...this.#table.header(), line] : [line]
  }

  summary() {
    return this.#summary.lines()
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
