'use strict'
// The demo's tables as a terminal shows them. demo.program.js covers a pipe only.

const { describe, test } = require('node:test')
const assert = require('node:assert/strict')
const { stripVTControlCharacters } = require('node:util')
const { Summary, measuredBusy } = require('../../examples/demo-summary')
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
  test('aligns text left, numbers right, and short headers at the bottom', (t) => {
    withNoColor(t, undefined)
    const table = new TerminalTable(COLUMNS, PIPE)
    assert.deepEqual(table.header(), ['        how', 'name   many'])
    assert.equal(table.row({ name: 'dam', count: 12 }), 'dam      12')
  })

  for (const [where, stream, noColor, isColoured] of [
    ['on a terminal', TERMINAL, undefined, true],
    ['on a terminal with an empty NO_COLOR', TERMINAL, '', true],
    ['on a terminal with NO_COLOR', TERMINAL, '1', false],
    ['on a terminal without colours', DUMB, undefined, false],
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

const PAGE = 'http://127.0.0.1:9464'

describe('the line of a second', () => {
  const CLASSES = ['critical', 'normal', 'low']
  const snapshotOf = (size) => ({
    admission: { shed: CLASSES.map((priority) => ({ reason: 'loop', priority, count: size })) },
  })
  const observed = (second, p99Ms) => ({
    second,
    gate: 'off',
    times: 10,
    sent: 20_000,
    good: 2000,
    latenciesMs: p99Ms === undefined ? [] : Array(20_000).fill(p99Ms),
    share: 1,
    lateMs: 5,
    probes: 4,
    probesAnswered: 4,
  })
  const tableOn = (stream) => {
    const table = new SecondsTable({ page: PAGE, stream })
    table.intro(2000, 20)
    table.begin(snapshotOf(0))
    return table
  }
  const headersIn = (lines) => lines.filter((line) => line.includes('sent')).length

  for (const [name, stream] of Object.entries({ TERMINAL, PIPE })) {
    test(`fits into 79 columns, ${name.toLowerCase()}, with spaces between all numbers, however long they are`, () => {
      for (const size of [0, 0.05, 9.99, 9999]) {
        const lines = tableOn(stream)
          .linesOf(observed(600, size), snapshotOf(Math.floor(size)))
          .map(stripVTControlCharacters)
        for (const line of lines) assert.ok(line.length < 80, line)
        assert.equal(lines.at(-1).trim().split(/ +/).length, 12, lines.at(-1))
      }
    })
  }

  test('shows the rejections since the line before', () => {
    const table = tableOn(PIPE)
    table.linesOf(observed(1, 1), snapshotOf(7))
    const [line] = table.linesOf(observed(2, 1), snapshotOf(10))
    assert.match(line, /^ +2 +off +10x +20000 +20000 +2000 +1\.0 +3 +3 +3 +4\/4 #{8}$/)
  })

  test('shows no latency if no client has an answer', () => {
    const lines = tableOn(PIPE).linesOf(observed(1, undefined), snapshotOf(0))
    assert.match(lines.at(-1), / 0 +2000 +- +0 /)
  })

  test('names the clients of a closed loop', () => {
    const { times, ...closed } = observed(1, 1)
    const lines = tableOn(PIPE).linesOf({ ...closed, clients: 300 }, snapshotOf(0))
    assert.match(lines.at(-1), /^ +1 +off 300 cl +20000 /)
  })

  test('shows nothing counted before its pass began', () => {
    const table = tableOn(PIPE)
    table.linesOf(observed(1, 1), snapshotOf(7))
    table.begin(snapshotOf(100))
    const [line] = table.linesOf(observed(2, 1), snapshotOf(101))
    assert.match(line, / 1 +1 +1 +4\/4 #{8}$/)
  })

  for (const [name, stream, expected] of [
    ['and the address of the page on a screen of 24 lines every 19 lines', TERMINAL, 6],
    ['and the address of the page on a screen of 100 lines every 20', { ...TERMINAL, rows: 100 }, 5],
    ['and the address of the page on a screen of 14 lines every 9', { ...TERMINAL, rows: 14 }, 12],
    ['and the address of the page on a screen of unknown height every 19', { ...TERMINAL, rows: 0 }, 6],
    ['in a pipe once', PIPE, 1],
  ]) {
    test(`stands under a header ${name}`, () => {
      const table = tableOn(stream)
      const lines = Array.from({ length: 100 }, (_, i) => table.linesOf(observed(i, 1), snapshotOf(1))).flat()
      assert.equal(headersIn(lines), expected)
      assert.ok(lines.find((line) => !line.includes(PAGE))?.includes('in   p99'))
      assert.equal(lines.filter((line) => line === `Live page: ${PAGE}`).length, stream.isTTY ? expected : 0)
    })
  }
})

describe('the words about the seconds', () => {
  const second = (gate, rest) => ({
    gate,
    times: 10,
    good: 0,
    latenciesMs: [],
    rejected: 0,
    share: 1,
    lateMs: 5,
    probes: 4,
    probesAnswered: 4,
    ...rest,
  })
  const closed = (gate, rest) => ({ ...second(gate, rest), times: undefined, clients: 300 })
  const linesOf = (...seconds) => {
    const summary = new Summary(2000, PIPE)
    for (const each of seconds) summary.add(each)
    return summary.lines()
  }
  const HEADER = 3

  test('summarise the steady state of each load, without the gate and with it in turn', () => {
    const lines = linesOf(
      second('off', { times: 0.5, good: 1000 }),
      second('off', { good: 2000 }),
      second('off', { good: 100, latenciesMs: Array(400).fill(900), probesAnswered: 1 }),
      closed('off', { latenciesMs: [1, 2] }),
      closed('off', { latenciesMs: Array(2000).fill(600) }),
      second('on', { good: 0, latenciesMs: [5000] }),
      second('on', { good: 1800, latenciesMs: Array(1800).fill(30), rejected: 18_000 }),
      second('on', { good: 1900, latenciesMs: Array(1900).fill(50), rejected: 18_200 }),
      closed('on', {}),
      closed('on', { good: 1700, latenciesMs: Array(1700).fill(40), rejected: 3000 })
    )
    assert.equal(lines[0], 'Steady state: each load without its first second.')
    assert.deepEqual(
      lines.slice(HEADER).map((line) => line.trim().split(/ {2,}/)),
      [
        ['10x the capacity', 'off', '400', '5 %', '900', '900', '0', '1/4'],
        ['on', '1850', '93 %', '50.0', '50.0', '18100', '8/8'],
        ['300 clients', 'off', '2000', '0 %', '600', '600', '0', '4/4'],
        ['on', '1700', '85 %', '40.0', '40.0', '3000', '4/4'],
      ]
    )
  })

  test('say if a load had only one second', () => {
    const [first, , , , third] = linesOf(second('off', {}), second('on', { good: 1800 }))
    assert.equal(first, 'Some loads lasted one second: too short for a steady state.')
    assert.match(third, /^ +on +0 +90 % +- /)
  })

  test('say if the machine was too busy, and give the evidence', () => {
    const disturbed = second('on', { share: 0.5, lateMs: 480 })
    assert.deepEqual(linesOf(second('on', {}), disturbed, disturbed).slice(HEADER + 1), [
      'This machine is too busy for reliable figures:',
      '  the server had 50 % of a core and needs a whole core.',
      '  requests were sent up to 480 ms late.',
      'Stop other programs and run the demo again: it needs two free cores.',
    ])
    // The first second of a load does not count.
    assert.equal(linesOf(disturbed, second('on', {})).length, HEADER + 1)
  })

  test('warn at the start if the measured capacity is uncertain', () => {
    assert.equal(measuredBusy(0.99).length, 0)
    assert.equal(measuredBusy(undefined).length, 0)
    assert.match(measuredBusy(0.6)[0], /the server had 60 % of a core/)
  })

  test('fit into 79 columns', () => {
    const lines = [
      ...new SecondsTable({ page: PAGE, stream: PIPE }).intro(12_345, 600, 0.05),
      ...linesOf(
        ...Array(2).fill(
          second('off', {
            good: 9999,
            latenciesMs: Array(9999).fill(9999),
            rejected: 99_999,
            share: 0.05,
            lateMs: 12_345,
            probes: 99,
          })
        )
      ),
    ]
    assert.ok(lines.some((line) => line.includes('too busy')))
    for (const line of lines) assert.ok(line.length < 80, line)
  })
})
