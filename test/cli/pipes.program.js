'use strict'
// The output in a pipe: no colours and no cursor moves unless asked for, one line a second with --watch, and
// an end without a word when the reader has read enough.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { describe, test } = require('node:test')
const { diagnosisOf, json, routeOf, snapshotOf, standInFor, summaryOf } = require('./admin-stand-in')
const { PROGRAM, plainEnv, runProgram } = require('./program')
const { TERMINAL_SKIP, openTerminal } = require('./terminal')

const ESCAPE = '\x1b'

/** A service whose counts grow by the second of its snapshots. */
async function growing(t, routes = 1) {
  let answers = 0
  const snapshot = () => {
    const second = ++answers
    const count = second * 50
    const all = Array.from({ length: routes }, (_, index) => routeOf(`/r${index}`, count))
    return snapshotOf({
      at: `2026-01-01T00:${String(Math.floor(second / 60)).padStart(2, '0')}:${String(second % 60).padStart(2, '0')}.000Z`,
      uptimeSeconds: second,
      requests: { inFlight: 1, lastMinute: summaryOf(count), sinceStart: summaryOf(count) },
      routes: all,
    })
  }
  return standInFor(t, { 'GET /snapshot': json(snapshot), 'GET /doctor': json(diagnosisOf()) })
}

describe('colours', () => {
  const cases = /** @type {const} */ ([
    ['none in a pipe', {}, false],
    ['with FORCE_COLOR', { FORCE_COLOR: '1' }, true],
    ['none with FORCE_COLOR=0', { FORCE_COLOR: '0' }, false],
    ['none with NO_COLOR, whatever FORCE_COLOR says', { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
  ])
  for (const [name, env, isColoured] of cases)
    test(name, async (t) => {
      const { url } = await growing(t)
      const { out } = await runProgram(['top', url], { env })
      assert.equal(out.includes(`${ESCAPE}[1m`), isColoured)
      // The cursor is moved nowhere.
      assert.ok(!out.includes(`${ESCAPE}[?`) && !out.includes(`${ESCAPE}[H`))
    })

  test('none in a terminal with NO_COLOR, which is drawn all the same', {
    skip: TERMINAL_SKIP,
  }, async (t) => {
    const { url } = await growing(t)
    const terminal = openTerminal(t, ['top', url], { env: { NO_COLOR: '1' } })
    await terminal.until((screen) => screen.includes('q quit'))
    terminal.press('q')
    await terminal.ended()
    assert.ok(!terminal.written().includes(`${ESCAPE}[1m`))
  })
})

describe('top --watch', () => {
  const start = (t, args, stdout = 'pipe') => {
    const child = spawn(process.execPath, [PROGRAM, 'top', ...args], {
      env: plainEnv(),
      stdio: ['ignore', /** @type {any} */ (stdout), 'pipe'],
    })
    t.after(() => child.kill('SIGKILL'))
    return child
  }
  const linesOf = async (child, count) => {
    let text = ''
    child.stdout.setEncoding('utf8')
    while (text.split('\n').length <= count) text += (await once(child.stdout, 'data'))[0]
    return text.split('\n').slice(0, count)
  }

  test('prints a line a second, and ends by SIGINT with 0', async (t) => {
    const { url } = await growing(t)
    const child = start(t, [url, '--watch'])
    const [head, first, second] = await linesOf(child, 3)
    assert.match(head, /^time +req\/s +p50 .* health$/)
    assert.match(first, /^\d\d:\d\d:\d\d .* healthy$/)
    assert.match(second, /^\d\d:\d\d:\d\d +50\.0 /)
    child.kill('SIGINT')
    assert.deepEqual(await once(child, 'exit'), [0, null])
  })

  test('prints JSON a line with --json', async (t) => {
    const { url } = await growing(t)
    const child = start(t, [url, '--watch', '--json'])
    const values = (await linesOf(child, 2)).map((line) => JSON.parse(line))
    assert.deepEqual(Object.keys(values[1]), ['snapshot', 'diagnosis'])
    child.kill('SIGINT')
    await once(child, 'exit')
  })

  test('ends with 0 and without a word when its reader has gone', async (t) => {
    const { url } = await growing(t)
    const child = start(t, [url, '--watch'])
    let err = ''
    child.stderr?.on('data', (piece) => {
      err += piece
    })
    await linesOf(child, 2)
    child.stdout?.destroy()
    assert.deepEqual(await once(child, 'close'), [0, null])
    assert.equal(err, '')
  })
})

test('a long answer ends with 0 when its reader has gone', async (t) => {
  const { url } = await growing(t, 20_000)
  const child = spawn(
    'sh',
    ['-c', `"$0" "$1" top "$2" | head -1; "$0" "$1" top "$2" | true`, process.execPath, PROGRAM, url],
    {
      env: plainEnv(),
      stdio: ['ignore', 'pipe', 'pipe'],
    }
  )
  t.after(() => child.kill('SIGKILL'))
  let [out, err] = ['', '']
  child.stdout.on('data', (piece) => {
    out += piece
  })
  child.stderr.on('data', (piece) => {
    err += piece
  })
  await once(child, 'close')
  assert.deepEqual([out.split('\n').length, err], [2, ''])
})
