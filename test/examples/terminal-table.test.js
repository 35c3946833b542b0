'use strict'
// What the demo's tables look like on a terminal, which the demo in a pipe does not show.

const { describe, test } = require('node:test')
const assert = require('node:assert/strict')
const { stripVTControlCharacters } = require('node:util')
const { SecondsTable } = require('../../examples/demo-tables')
const { TerminalTable } = require('../../examples/terminal-table')

const TERMINAL = { isTTY: true, rows: 24, columns: 80, hasColors: () => true }
const DUMB = { ...TERMINAL, hasColors: () => false }
const PIPE = {}

const COLUMNS = [
  { head: ['name'], width: -6, of: (row) => row.name },
  {
    head: ['how', 'many'],
    width: 5,
    of: (row) => row.count,
    colour: ({ count }) => (count > 1 ? 'red' : undefined),
  },
]

function withNoColor(t, value) {
  const before = process.env.NO_COLOR
  process.env.NO_COLOR = value
  if (value === undefined) delete process.env.NO_COLOR
  t.after(() => {
    if (before === undefined) delete process.env.NO_COLOR
    else process.env.NO_COLOR = before
  })
}

describe('a table for the terminal', () => {
  test('puts text to the left, numbers to the right, and a short head at the bottom', (t) => {
    withNoColor(t, undefined)
    const table = new TerminalTable(COLUMNS, PIPE)
    assert.deepEqual(table.header(), ['        how', 'name   many'])
    assert.equal(table.row({ name: 'dam', count: 12 }), 'dam      12')
  })

  for (const [where, stream, noColor, isColoured] of [
    ['on a terminal', TERMINAL, undefined, true],
    ['on a terminal with an empty NO_COLOR', TERMINAL, '', true],
    ['on a terminal with NO_COLOR', TERMINAL, '1', false],
    ['on a terminal that has none', DUMB, undefined, false],
    ['in a pipe', PIPE, undefined, false],
  ]) {
    test(`is ${isColoured ? 'coloured' : 'plain'} ${where}`, (t) => {
      withNoColor(t, noColor)
      const table = new TerminalTable(COLUMNS, stream)
      const row = isColoured ? 'dam   \x1b[31m    2\x1b[0m' : 'dam       2'
      assert.equal(table.row({ name: 'dam', count: 2 }), row)
      assert.equal(table.header()[1].includes('\x1b'), isColoured)
    })
  }
})

describe('the line of a second', () => {
  const CLASSES = ['critical', 'normal', 'low']
  const snapshotOf = (size) => ({
    routes: [{ outcomes: { completed: size, errored: size } }],
    admission: { shed: CLASSES.map((priority) => ({ reason: 'loop', priority, count: size })) },
  })
  const told = (second, p99Ms) => ({
    second,
    gate: 'off',
    times: 10,
    offered: 20_000,
    good: 2000,
    p99Ms,
    probes: 4,
    probesAnswered: 4,
  })
  const tableOn = (stream) => {
    const table = new SecondsTable(stream)
    table.intro(2000, snapshotOf(0))
    return table
  }
  const headersIn = (lines) => lines.filter((line) => line.includes('offered')).length

  for (const [name, stream] of Object.entries({ TERMINAL, PIPE })) {
    test(`fits into 79 columns, ${name.toLowerCase()}, with all its numbers apart, whatever they are`, () => {
      for (const size of [0, 0.05, 9.99, 9999]) {
        const lines = tableOn(stream)
          .linesOf(told(600, size), snapshotOf(Math.floor(size)))
          .map(stripVTControlCharacters)
        for (const line of lines) assert.ok(line.length < 80, line)
        assert.equal(lines.at(-1).trim().split(/ +/).length, 12, lines.at(-1))
      }
    })
  }

  test('shows what failed and was refused since the line before', () => {
    const table = tableOn(PIPE)
    table.linesOf(told(1, 1), snapshotOf(7))
    const [line] = table.linesOf(told(2, 1), snapshotOf(10))
    assert.match(line, /^ +2 +off +10x +20000 +2000 +1\.0 +3 +3 +3 +3 +4\/4 #{8}$/)
  })

  test('has no latency while no client has an answer', () => {
    const lines = tableOn(PIPE).linesOf(told(1, undefined), snapshotOf(0))
    assert.match(lines.at(-1), / - +0 /)
  })

  test('is summed up for the seconds of overload, with the gate and without', () => {
    const table = tableOn(PIPE)
    table.linesOf({ ...told(1, 1), times: 0.5 }, snapshotOf(0))
    table.linesOf({ ...told(2, 1), good: 100, probesAnswered: 1 }, snapshotOf(0))
    table.linesOf({ ...told(3, 1), gate: 'on', good: 1800 }, snapshotOf(0))
    assert.deepEqual(table.summary(), [
      '10 times the load, gate off: 100/s in time, 5 % of capacity; probes 1 of 4.',
      '10 times the load, gate on: 1800/s in time, 90 % of capacity; probes 4 of 4.',
    ])
  })

  for (const [name, stream, expected] of [
    ['on a screen of 24 lines every 20 lines', TERMINAL, 5],
    ['on a screen of 100 lines no less often', { ...TERMINAL, rows: 100 }, 5],
    ['on a screen of 14 lines every 10', { ...TERMINAL, rows: 14 }, 10],
    ['on a screen of unknown height every 20', { ...TERMINAL, rows: 0 }, 5],
    ['in a pipe once', PIPE, 1],
  ]) {
    test(`stands under a header ${name}`, () => {
      const table = tableOn(stream)
      const lines = Array.from({ length: 100 }, (_, i) => table.linesOf(told(i, 1), snapshotOf(1))).flat()
      assert.equal(headersIn(lines), expected)
      assert.ok(lines[1].includes('offered'))
    })
  }
})
