'use strict'
// The demo as a process: in a pipe, stopped in every phase, and with invalid arguments.

const { describe, test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const net = require('node:net')
const readline = require('node:readline')
const { Readable } = require('node:stream')
const { readDemoOptions } = require('../../examples/demo-options')
const { startExample } = require('./example-process')

const SECOND =
  /^ +(?<second>\d+) +(?<gate>on|off) +(?<load>0\.5x|10x|\d+ cl) +(?<sent>\d+) +(?<served>\d+) +(?<good>\d+) +\S+ +(?<critical>\d+) +(?<normal>\d+) +(?<low>\d+) +\d+\/\d+/
const ROUTE = /^ GET +(?<route>\/\S+) +(?<count>\d+) +(?<errors>\d+) +[\d.]+ +[\d.]+$/
const ROUTES = ['/hello/:name', '/pay', '/report', '/search', '/users/:id/orders']

const rowsOf = (stdout, pattern) =>
  stdout
    .split('\n')
    .map((line) => line.match(pattern)?.groups)
    .filter((groups) => groups !== undefined)

const MAX_GAP_MS = 1

/**
 * Sends both at once, as npm does: a signal that arrives while Node shuts the process down would kill it.
 * Returns the time between the two.
 */
function signalTwice(demo) {
  demo.child.kill('SIGINT')
  const sentMs = performance.now()
  demo.child.kill('SIGINT')
  return performance.now() - sentMs
}

// Mostly they wait for the next second of the demo: side by side.
describe('the demo in a pipe', { concurrency: true }, () => {
  test('prints a header, a plain line for each second and every route, and exits by itself with 0', async (t) => {
    const demo = startExample(t, 'demo.js', { args: ['--seconds', '8', '--rate', '20'] })
    const { code, stdout, stderr } = await demo.closed
    assert.equal(stderr, '')
    assert.equal(code, 0)
    assert.match(stdout, /^[\n -~]+$/, 'neither colours nor block characters')
    assert.deepEqual(
      demo.lines.filter((line) => line.length >= 80),
      []
    )
    assert.equal(demo.lines.filter((line) => /^ +s +gate +load +sent/.test(line)).length, 1)

    const seconds = rowsOf(stdout, SECOND)
    const loads = ['0.5x', '10x', '0.5x', '50 cl']
    assert.deepEqual(
      seconds.map(({ second, gate, load }) => [second, gate, load]),
      ['off', 'on'].flatMap((gate, pass) =>
        loads.map((load, i) => [`${pass * loads.length + i + 1}`, gate, load])
      )
    )
    const sentOf = (load) => seconds.filter((each) => each.load === load).map(({ sent }) => sent)
    assert.deepEqual(sentOf('0.5x'), ['10', '10', '10', '10'])
    assert.deepEqual(sentOf('10x'), ['200', '200'])
    const withoutGate = seconds.filter(({ gate }) => gate === 'off')
    assert.equal(
      withoutGate.map(({ critical, normal, low }) => critical + normal + low).join(''),
      '0'.repeat(12),
      'without the gate nothing is rejected'
    )
    await demo.line(/^Some loads lasted one second: too short for a steady state\.$/)
    for (const load of ['10x the capacity', '50 clients'])
      await demo.line(new RegExp(`^${load} +off +\\d+ +\\d+ % `))
    await demo.line(/^\/pay fails on purpose/)
    for (const column of [
      's',
      'gate',
      'load',
      'sent',
      'served',
      'in time',
      'p99',
      'rejected',
      'probes',
      'the bar',
    ])
      await demo.line(new RegExp(`^  ${column} +\\S`))
    const routes = rowsOf(stdout, ROUTE)
    assert.deepEqual(routes.map(({ route }) => route).sort(), ROUTES)
    // The counts depend on the machine: a busy machine has not answered every request when the load ends.
    assert.ok(routes.every(({ count }) => Number(count) > 0))
    // Not every request to /pay is an error: on a busy machine a client disconnects before it.
    assert.deepEqual(
      routes.filter(({ errors }) => errors !== '0').map(({ route }) => route),
      ['/pay']
    )
    demo.assertNothingIsLeft()
  })

  test('has a live page that shows the load while it is ten times the capacity', async (t) => {
    const demo = startExample(t, 'demo.js', { args: ['--seconds', '4', '--rate', '300'] })
    const [, page] = await demo.line(/^Live page: (http:\S+) /)
    const lines = readline.createInterface({
      input: Readable.fromWeb((await fetch(`${page}/live`)).body),
    })
    const points = []
    lines.on('line', (line) => {
      const { point } = JSON.parse(line)
      if (point !== undefined) points.push({ ...point, row: rowsOf(demo.lines.join('\n'), SECOND).length })
    })
    assert.equal((await demo.closed).code, 0)
    const during = points.filter(({ row }) => row > 0)
    assert.ok(
      during.some(({ requests }) => requests > 0),
      'requests of the load'
    )
  })

  test('stops silently when the reader of its pipe exits', async (t) => {
    const demo = startExample(t, 'demo.js', { args: ['--seconds', '600', '--rate', '20'] })
    await demo.line(SECOND)
    demo.child.stdout.destroy()
    const { code, stderr } = await demo.closed
    assert.deepEqual([code, stderr], [0, ''])
    demo.assertNothingIsLeft()
  })
})

describe('the demo when it gets a signal', { concurrency: true }, () => {
  const sigint = ['a SIGINT', (demo) => demo.child.kill('SIGINT')]
  const sigterm = ['a SIGTERM', (demo) => demo.child.kill('SIGTERM')]
  const group = ['a Ctrl-C, which its load also gets', (demo) => demo.signalGroup('SIGINT')]
  const twice = ['a Ctrl-C under npm, which is two signals', signalTwice]
  for (const [moment, line, signals] of [
    ['at its first line', /^Express at/, [sigterm, twice]],
    ['in the middle of the load', SECOND, [sigint, group, twice]],
  ]) {
    for (const [how, send] of signals) {
      test(`ends with 0 and leaves no child on ${how}, ${moment}`, async (t) => {
        const demo = startExample(t, 'demo.js', { args: ['--seconds', '600', '--rate', '60'] })
        await demo.line(line)
        const gapMs = await send(demo)
        const { code, stdout, stderr } = await demo.closed
        assert.equal(stderr, '')
        // A test that lost its CPU between the two signals sent the second one to a process that was exiting
        // and had no listener left.
        if (!(gapMs > MAX_GAP_MS)) assert.equal(code, 0)
        assert.equal(stdout.split('\n').at(-1), 'Stopped.')
        demo.assertNothingIsLeft()
      })
    }
  }

  test('ends its load even if it is killed', async (t) => {
    const demo = startExample(t, 'demo.js', { args: ['--seconds', '600'] })
    await demo.line(SECOND)
    demo.child.kill('SIGKILL')
    const { signal } = await demo.closed
    assert.equal(signal, 'SIGKILL')
  })
})

describe('the demo after the load', () => {
  test('keeps serving, answers at every address it prints, and stops with 0', async (t) => {
    const demo = startExample(t, 'demo.js', { args: ['--seconds', '4', '--rate', '5', '--serve'] })
    await demo.line(/^Stop it with Ctrl-C\.$/)
    const urls = demo.lines
      .map((line) => line.match(/^ {2}(http:\S+)/)?.[1])
      .filter((url) => url !== undefined)
    const statuses = await Promise.all(
      urls.map(async (url) => [new URL(url).pathname, (await fetch(url)).status])
    )
    assert.deepEqual(Object.fromEntries(statuses), {
      '/': 200,
      '/metrics': 200,
      '/livez': 200,
      '/readyz': 200,
      '/hello/you': 200,
      '/users/7/orders': 200,
      '/search': 200,
      '/report': 200,
      '/pay': 500,
    })
    const metrics = await (await fetch(urls.find((url) => url.endsWith('/metrics')))).text()
    const labels = new Set(Array.from(metrics.matchAll(/http_route="([^"]*)"/g), ([, label]) => label))
    assert.deepEqual([...labels].sort(), ROUTES)
    assert.equal((await fetch(new URL('/hello/%ZZ', urls.at(-1)))).status, 400)
    const [first] = demo.lines
    assert.equal(first.match(/^Live page: (http:\S+) /)?.[1], urls[0], 'the address comes first')
    const page = await fetch(urls[0], { headers: { Accept: 'text/html' } })
    assert.match(await page.text(), /^<!doctype html>/)

    demo.child.kill('SIGINT')
    const { code, stderr } = await demo.closed
    assert.deepEqual([code, stderr], [0, ''])
    demo.assertNothingIsLeft()
  })
})

describe('the port of the demo', () => {
  test('is the next free port if the requested port is taken, and the demo says so', async (t) => {
    const other = net.createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    t.after(() => other.close())
    const { port } = other.address()
    const demo = startExample(t, 'demo.js', { args: ['--seconds', '4', '--rate', '1', '--once'], port })
    const [, taken, free] = await demo.line(/^Port (\d+) is taken, using (\d+)\.$/)
    assert.equal(Number(taken), port)
    const [, url] = await demo.line(/^Express at (http:\S+)\./)
    assert.equal(new URL(url).port, free)
    assert.notEqual(free, taken)
    assert.equal((await demo.closed).code, 0)
  })
})

describe('the arguments of the demo', () => {
  const KNOWN = 'Known: --seconds, --rate, --once, --serve, --help.'
  for (const [args, problem, env] of [
    [['--sceonds', '5'], `Unknown argument --sceonds. ${KNOWN}`],
    [['-s'], `Unknown argument -s. ${KNOWN}`],
    [['5'], `Unknown argument 5. ${KNOWN}`],
    [['--seconds', '0'], "--seconds must be a whole number from 4 to 600: got '0'."],
    [['--seconds', '601'], "--seconds must be a whole number from 4 to 600: got '601'."],
    [['--seconds', '-5'], "--seconds must be a whole number from 4 to 600: got '-5'."],
    [['--seconds'], '--seconds must be a whole number from 4 to 600: got nothing.'],
    [['--rate', '1e3'], "--rate must be a whole number from 0 to 2000: got '1e3'."],
    [['--serve=yes'], "--serve takes no value: got 'yes'."],
    [['--once=no'], "--once takes no value: got 'no'."],
    [[], "PORT must be a whole number from 0 to 65535: got 'http'.", { PORT: 'http' }],
  ]) {
    test(`are rejected with one sentence: ${args.join(' ') || `PORT=${env.PORT}`}`, () => {
      assert.deepEqual(readDemoOptions(args, env ?? {}), { problem })
    })
  }

  for (const [args, env, expected, isTerminal = true] of [
    [[], {}, { seconds: 22, rate: 0, port: 3000, once: true, help: false }, false],
    [['--serve'], {}, { seconds: 22, rate: 0, port: 3000, once: false, help: false }, false],
    [[], { CI: 'true' }, { seconds: 22, rate: 0, port: 3000, once: true, help: false }],
    [['--serve'], { CI: 'true' }, { seconds: 22, rate: 0, port: 3000, once: false, help: false }],
    [[], {}, { seconds: 22, rate: 0, port: 3000, once: false, help: false }],
    [[], { PORT: '' }, { seconds: 22, rate: 0, port: 3000, once: false, help: false }],
    [
      ['--seconds', '600', '--rate=1', '--once'],
      { PORT: '0' },
      { seconds: 600, rate: 1, port: 0, once: true, help: false },
    ],
    [['-h'], {}, { seconds: 22, rate: 0, port: 3000, once: false, help: true }],
  ]) {
    const where = isTerminal ? 'on a terminal' : 'in a pipe'
    test(`are read ${where}: ${args.join(' ') || 'none'}, PORT=${env.PORT}, CI=${env.CI}`, () => {
      assert.deepEqual(readDemoOptions(args, env, isTerminal), expected)
    })
  }

  test('end the demo with 2 before it does anything else, if they are rejected', async (t) => {
    const { code, stdout, stderr } = await startExample(t, 'demo.js', { args: ['--now'] }).closed
    assert.deepEqual(
      { code, stdout, stderr },
      { code: 2, stdout: '', stderr: `Unknown argument --now. ${KNOWN}\n` }
    )
  })

  test('are listed by --help', async (t) => {
    const { code, stdout, stderr } = await startExample(t, 'demo.js', { args: ['--help'] }).closed
    assert.deepEqual([code, stderr], [0, ''])
    for (const flag of ['--seconds', '--rate', '--once', '--serve', '--help', 'PORT'])
      assert.ok(stdout.includes(`  ${flag} `), flag)
  })
})

describe('the load of the demo', () => {
  test('names the demo when it is started by hand', async (t) => {
    const { code, stdout, stderr } = await startExample(t, 'load.js').closed
    assert.deepEqual([code, stdout], [2, ''])
    assert.equal(stderr, 'Run examples/demo.js instead: it starts this load.\n')
  })
})
