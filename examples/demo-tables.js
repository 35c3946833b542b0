'use strict'
// What the demo shows: a line a second while the load runs, then a table of the routes. Two views side by side:
// spillway's, from its snapshot, and the clients' p99, which also holds the wait before the server could read the
// request. At most 79 columns.

const { TerminalTable } = require('./terminal-table')

const PHASE_COLOURS = { calm: 'green', busy: 'yellow', burst: 'red' }
const LONGEST_BAR = 8

class SecondsTable {
  #table
  #rows = 0
  #before = { served: 0, errors: 0 }

  constructor(stream = process.stdout) {
    const block = stream.isTTY ? '▇' : '#'
    this.#table = new TerminalTable(
      [
        { head: ['s'], width: 3, of: (row) => row.second },
        {
          head: [' load'],
          width: -7,
          of: (row) => ` ${row.phase}`,
          colour: (row) => PHASE_COLOURS[row.phase],
        },
        { head: ['offered'], width: 8, of: (row) => row.offered },
        { head: ['served'], width: 8, of: (row) => row.served },
        { head: ['errors'], width: 7, of: (row) => row.errors, colour: (row) => redIfAny(row.errors) },
        { head: ['in', 'flight'], width: 8, of: (row) => row.inFlight },
        { head: ['p50', 'ms'], width: 6, of: (row) => ms(row.p50Ms) },
        { head: ['p99', 'ms'], width: 7, of: (row) => ms(row.p99Ms) },
        { head: ['loop', 'delay'], width: 7, of: (row) => ms(row.loopDelayMs) },
        { head: ['clients', 'p99 ms'], width: 9, of: (row) => ms(row.clientP99Ms) },
        {
          head: [],
          width: -LONGEST_BAR - 1,
          of: (row) => ` ${block.repeat(barLength(row.clientP99Ms))}`,
          colour: (row) => delayColour(row.clientP99Ms),
        },
      ],
      stream
    )
  }

  /** The line of one second, under a header where one is due. `offer` is what the load has told of it. */
  linesOf(offer, { routes, requests, signals }) {
    const now = { served: totalOf(routes, 'completed'), errors: totalOf(routes, 'errored') }
    const line = this.#table.row({
      ...offer,
      served: now.served - this.#before.served,
      errors: now.errors - this.#before.errors,
      inFlight: requests.inFlight,
      p50Ms: requests.lastMinute.p50Ms,
      p99Ms: requests.lastMinute.p99Ms,
      loopDelayMs: signals.loop.delayMs.p99,
    })
    this.#before = now
    const isHeaderDue = this.#rows++ % this.#table.rowsPerHeader() === 0
    return isHeaderDue ? [...this.#table.header(), line] : [line]
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
      colour: (route) => redIfAny(route.outcomes.errored),
    },
    { head: ['p50 ms'], width: 9, of: (route) => ms(route.sinceStart.p50Ms) },
    { head: ['p99 ms'], width: 9, of: (route) => ms(route.sinceStart.p99Ms) },
  ])
  return [...table.header(), ...routes.map((route) => table.row(route))]
}

const totalOf = (routes, outcome) => routes.reduce((sum, { outcomes }) => sum + outcomes[outcome], 0)
const redIfAny = (count) => (count > 0 ? 'red' : undefined)

function ms(value) {
  if (value === undefined) return '-'
  return value < 100 ? value.toFixed(1) : String(Math.round(value))
}

/** From 16 ms on, a block more each time it doubles: 20 ms and 2 s both have to fit. */
function barLength(delayMs = 0) {
  return Math.min(Math.max(Math.floor(Math.log2(delayMs)) - 3, 0), LONGEST_BAR)
}

function delayColour(delayMs = 0) {
  if (delayMs < 100) return 'green'
  return delayMs < 500 ? 'yellow' : 'red'
}

module.exports = { SecondsTable, routeLines }
