'use strict'
// Formats what the demo prints: the explanation of the columns, a line for each second of load, and a table
// of routes. The load measures answers, p99 and probes as its clients see them; rejections are from
// spillway.snapshot(). Lines have at most 79 columns.

const { Summary, measuredBusy, msOf, quantileOf } = require('./demo-summary')
const { TerminalTable } = require('./terminal-table')

const LONGEST_BAR = 8
const CLASSES = ['critical', 'normal', 'low']
const LEGEND = [
  ['s', 'second of the load'],
  ['gate', 'off: rejects nothing; on: rejects what an overload would make late'],
  ['load', '10x: ten times the capacity, at a constant rate (an open loop)'],
  ['', '50 cl: 50 clients that ask again once answered (a closed loop)'],
  ['sent', 'requests due or sent in that second, answered or not'],
  ['served', 'answers without 503; /pay, one request in twelve, fails on purpose'],
  ['in time', 'those within 250 ms of when the request was due'],
  ['p99', 'time in ms that 99 of 100 of the served took at most'],
  ['rejected', '503 responses by class: critical (gold), normal, low (free clients)'],
  ['probes', '/livez probes answered of those sent, each on a new connection'],
  ['the bar', 'answers in time as a share of the capacity'],
]

class SecondsTable {
  #table
  #rows = 0
  #capacity = 0
  #before
  #summary
  #stream
  /** Above each header on a terminal, so that the address stays on the screen. */
  #top

  /**
   * @param {{ page: string, stream?: import('node:tty').WriteStream }} options page: the address of the live
   *   page
   */
  constructor({ page, stream = process.stdout }) {
    this.#stream = stream
    this.#top = stream.isTTY ? [`Live page: ${page}`] : []
    const block = stream.isTTY ? '▇' : '#'
    const shedOf = (priority) => (row) => row.shed[priority]
    this.#table = new TerminalTable(
      [
        { head: ['s'], width: 3, of: (row) => row.second },
        { head: ['gate'], width: 5, of: (row) => row.gate },
        {
          head: ['load'],
          width: 7,
          of: (row) => (row.clients === undefined ? `${row.times}x` : `${row.clients} cl`),
          colour: (row) => (row.times < 1 ? 'green' : 'red'),
        },
        { head: ['sent'], width: 7, of: (row) => row.sent },
        { head: ['served'], width: 7, of: (row) => row.latenciesMs.length },
        {
          head: ['in', 'time'],
          width: 6,
          of: (row) => row.good,
          colour: (row) => (row.good < Math.min(row.sent, row.capacity) / 2 ? 'red' : 'green'),
        },
        { head: ['p99', 'ms'], width: 6, of: (row) => msOf(quantileOf(row.latenciesMs, 0.99)) },
        { head: ['rejected', 'critical'], width: 10, of: shedOf('critical') },
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
   * The lines before the table: what the load does, and what each column means.
   *
   * @param {number} [share] of a core that the server had while its capacity was measured
   */
  intro(capacity, seconds, share) {
    this.#capacity = capacity
    this.#summary = new Summary(capacity, this.#stream)
    return [
      `Capacity: ${capacity} requests per second. For ${seconds} s the load is half of that, ten`,
      'times it, half again, then 50 clients that ask again at once.',
      "First without spillway's gate, then with it.",
      ...measuredBusy(share),
      '',
      ...LEGEND.map(([name, what]) => `  ${name.padEnd(10)}${what}`),
      '',
    ]
  }

  /** Begins a pass: later lines count from this snapshot on. */
  begin(snapshot) {
    this.#before = countsOf(snapshot)
  }

  /**
   * The line of one second, after a header if it is time for one. `observed` is what the load measured in
   * that second.
   */
  linesOf(observed, snapshot) {
    const now = countsOf(snapshot)
    const shed = Object.fromEntries(CLASSES.map((name) => [name, now[name] - this.#before[name]]))
    const line = this.#table.row({ ...observed, shed, capacity: this.#capacity })
    this.#before = now
    this.#summary.add({ ...observed, rejected: CLASSES.reduce((sum, name) => sum + shed[name], 0) })
    const isHeaderDue = this.#rows++ % this.#table.rowsPerHeader() === 0
    return isHeaderDue ? [...this.#top, ...this.#table.header(), line] : [line]
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
    { head: ['p50 ms'], width: 9, of: (route) => msOf(route.sinceStart.p50Ms) },
    { head: ['p99 ms'], width: 9, of: (route) => msOf(route.sinceStart.p99Ms) },
  ])
  return [...table.header(), ...routes.map((route) => table.row(route))]
}

function countsOf({ admission }) {
  const counts = Object.fromEntries(CLASSES.map((name) => [name, 0]))
  for (const { priority, count } of admission.shed) if (priority in counts) counts[priority] += count
  return counts
}

const barLength = ({ good, capacity }) => Math.min(LONGEST_BAR, Math.round((LONGEST_BAR * good) / capacity))

module.exports = { SecondsTable, routeLines }
