'use strict'
// `spillway top` in a real terminal, looking at a real service: what it shows, its keys, its size, and that
// the terminal is as it was.

const assert = require('node:assert/strict')
const { after, before, describe, test } = require('node:test')
const { stripVTControlCharacters } = require('node:util')
const { diagnosisOf, json, routeOf, snapshotOf, standInFor } = require('./admin-stand-in')
const { startService } = require('./program')
const { ENTER, LEAVE, TERMINAL_SKIP, openTerminal } = require('./terminal')

const CTRL_C = '\x03'
const CTRL_Z = '\x1a'
const ESCAPE = '\x1b'
const UP = '\x1b[A'
const DOWN = '\x1b[B'
const RETURN = '\r'
/** What follows the escape in the codes that we write. */
const OURS = /^\[(\?(1049|25|2026)[hl]|H|K|J|\d+m)/

describe('spillway top in a terminal', { skip: TERMINAL_SKIP }, () => {
  const ends = []
  let service
  before(async () => {
    service = await startService({ after: (end) => ends.push(end) })
    await service.get('/users/7', 40)
    await service.get('/search', 3)
    await service.get('/pay', 2)
  })
  after(() => {
    for (const end of ends) end()
  })
  const open = (t, options) => openTerminal(t, ['top', String(service.admin)], options)
  const isDrawn = (screen) => screen.includes('q quit')
  const isFrame = (screen, rows, columns) => {
    const lines = screen.split('\n')
    return lines.length === rows && lines.every((line) => line.length <= columns)
  }
  const rowOf = (lines, name) => lines.find((line) => line.startsWith(name))

  test('shows the service, its health, its figures and its routes, and gives the terminal back', async (t) => {
    const terminal = open(t)
    const lines = await terminal.until((screen) => isDrawn(screen) && /^GET \/users\/:id/m.test(screen))
    assert.match(
      lines[0],
      new RegExp(`^spillway top +127\\.0\\.0\\.1:${service.admin} +up \\d+.* release 1\\.4\\.0`)
    )
    assert.match(lines[1], /^(HEALTHY|UNKNOWN|HIGH|MEDIUM|LOW) \S/)
    for (const label of [
      'requests',
      'p50',
      'p99',
      'errors',
      'shed',
      'in flight',
      'loop',
      'heap',
      'stalls',
      'queued',
    ])
      assert.ok(
        lines.slice(2, 9).some((line) => line.includes(label)),
        label
      )
    assert.equal(lines.length, 24)
    assert.match(rowOf(lines, 'GET /pay'), / 100 % /)
    terminal.press('q')
    assert.deepEqual(await terminal.ended(), { code: 0, signal: null, isRestored: true })
    assert.equal(terminal.written().split(ENTER).length, 2)
    // What it leaves on the usual screen is nothing.
    assert.equal(terminal.written().split(LEAVE)[1], '')
  })

  test('draws again with each answer of the service', async (t) => {
    const terminal = open(t)
    await terminal.until(isDrawn)
    await service.get('/fresh', 1)
    await terminal.until((screen) => screen.includes('(unmatched)'))
    terminal.press('q')
    assert.equal((await terminal.ended()).code, 0)
  })

  test('s goes through the orders', async (t) => {
    const terminal = open(t)
    await terminal.until((screen) => screen.includes('REQ/S*'))
    terminal.press('s')
    await terminal.until((screen) => screen.includes('P50 MS*') && screen.includes('s sort: p50'))
    terminal.press('ss')
    await terminal.until((screen) => screen.includes('P99 MS*'))
    terminal.press('s')
    const lines = await terminal.until((screen) => screen.includes('ERRORS*'))
    const header = lines.findIndex((line) => line.startsWith('ROUTE'))
    assert.match(lines[header + 1], /^GET \/pay/)
    terminal.press('q')
    await terminal.ended()
  })

  test('down and Enter open a route, Escape goes back', async (t) => {
    const terminal = openTerminal(t, ['top', service.adminUrl, '--sort', 'route'], { rows: 40 })
    const lines = await terminal.until(isDrawn)
    const header = lines.findIndex((line) => line.startsWith('ROUTE*'))
    const second = lines[header + 2].split('  ')[0]
    terminal.press(DOWN + DOWN + DOWN + UP)
    await terminal.until((_screen, written) => written.includes('\x1b[7m'))
    terminal.press(RETURN)
    const detail = await terminal.until((screen) => screen.includes('Esc back'))
    assert.ok(detail.includes(second), detail.join('\n'))
    for (const title of ['Durations', 'Since the start']) assert.ok(detail.includes(title), title)
    terminal.press(ESCAPE)
    await terminal.until((screen) => screen.includes('ROUTE*'))
    terminal.press(CTRL_C)
    assert.deepEqual(await terminal.ended(), { code: 0, signal: null, isRestored: true })
  })

  test('d shows what the doctor found', async (t) => {
    const finding = {
      problem: 'errors',
      severity: 'high',
      summary: 'GET /pay fails.',
      evidence: [{ name: 'failed requests', value: 2, unit: 'requests' }],
      advice: 'Look at the log.',
      effectOf: null,
      more: 'docs/insight.md#errors',
    }
    const { url } = await standInFor(t, {
      'GET /snapshot': json(snapshotOf()),
      'GET /doctor': json(diagnosisOf({ healthy: false, summary: finding.summary, findings: [finding] })),
    })
    const terminal = openTerminal(t, ['top', url])
    const lines = await terminal.until(isDrawn)
    assert.equal(lines[1], 'HIGH GET /pay fails. Press d.')
    assert.ok(lines.includes('No route has answered a request yet.'))
    terminal.press('d')
    const doctor = await terminal.until((screen) => screen.includes('Esc back'))
    assert.ok(doctor.includes('    What to do: Look at the log.'))
    terminal.press('q')
    await terminal.ended()
  })

  test('shows what blocks the process beside the machine that is busy', async (t) => {
    const found = (problem, more) => ({
      problem,
      effectOf: null,
      severity: 'medium',
      evidence: [],
      advice: '',
      more: '',
      ...more,
    })
    const findings = [
      found('host-starved', { severity: 'high', summary: 'Waited for a CPU for 30 % of the time.' }),
      found('overloaded', { summary: 'Rejects a half.', effectOf: 'host-starved' }),
      found('cpu-throttled', { summary: 'Stopped by its limit.' }),
      found('event-loop-blocked', { summary: `GET /hash blocked the loop, ${'word '.repeat(30)}` }),
    ]
    const { url } = await standInFor(t, {
      'GET /snapshot': json(snapshotOf()),
      'GET /doctor': json(diagnosisOf({ healthy: false, summary: findings[0].summary, findings })),
    })
    const terminal = openTerminal(t, ['top', url], { columns: 44 })
    const lines = await terminal.until(isDrawn)
    assert.deepEqual(lines.slice(1, 5), [
      'HIGH Waited for a CPU for 30 % of the time.',
      'MEDIUM GET /hash blocked the loop, word word',
      '       word word word word… 2 more: press d.',
      '',
    ])
    terminal.press('q')
    await terminal.ended()
  })

  test('at 44 columns shows routes that differ only in the middle as different ones', async (t) => {
    const routes = ['orders', 'invoices'].map((each, i) =>
      routeOf(`/customers/:customerId/${each}/:id/items`, 9 - i)
    )
    const { url } = await standInFor(t, {
      'GET /snapshot': json(snapshotOf({ routes })),
      'GET /doctor': json(diagnosisOf()),
    })
    const terminal = openTerminal(t, ['top', url], { columns: 44 })
    const lines = await terminal.until((screen) => isDrawn(screen) && isFrame(screen, 24, 44))
    const [first, second] = lines.slice(lines.findIndex((line) => line.startsWith('ROUTE')) + 1)
    assert.match(first, /^GET .*orde/)
    assert.match(second, /^GET .*invo/)
    assert.match(lines.at(-1), /^q quit +d doctor +↑↓ select +Enter detail$/)
    terminal.press('q')
    await terminal.ended()
  })

  test('begins its curve with the ten minutes that the service remembers', async (t) => {
    const endMs = Date.parse('2026-01-01T00:00:00.000Z')
    // A quiet half, nothing known for a minute, then a busy half.
    const history = Array.from({ length: 600 }, (_, i) => ({
      at: endMs - (599 - i) * 1000,
      requests: i < 300 ? 8 : 80,
    })).filter((_, i) => i < 300 || i >= 360)
    const { url } = await standInFor(t, {
      'GET /snapshot': json(snapshotOf()),
      'GET /doctor': json(diagnosisOf()),
      'GET /live': (_req, res) =>
        res.write(`${JSON.stringify({ history })}\n${JSON.stringify({ state: {} })}\n`),
    })
    const terminal = openTerminal(t, ['top', url], { columns: 70 })
    const lines = await terminal.until((screen) => screen.includes('10 min'))
    assert.match(rowOf(lines, '0-80'), /^0-80\.0\/s {2}▁{25,26} {4,6}█{20,22} {2}10 min$/)
    terminal.press('q')
    await terminal.ended()
  })

  test('is drawn anew when the terminal becomes wider, and fits when it becomes small', async (t) => {
    const terminal = open(t)
    await terminal.until((screen) => isDrawn(screen) && !screen.includes('P95 MS'))
    terminal.resize({ rows: 30, columns: 140 })
    const wide = await terminal.until((screen) => screen.includes('P95 MS') && screen.includes('MOSTLY'))
    assert.equal(wide.length, 30)
    terminal.resize({ rows: 8, columns: 30 })
    const small = await terminal.until((screen) => isFrame(screen, 8, 30))
    assert.match(small[0], /^spillway top/)
    terminal.press('q')
    assert.equal((await terminal.ended()).isRestored, true)
  })

  for (const [signal, how] of Object.entries({
    SIGINT: { code: 0, signal: null },
    SIGTERM: { code: null, signal: 15 },
    SIGHUP: { code: null, signal: 1 },
  })) {
    test(`gives the terminal back on ${signal}`, async (t) => {
      const terminal = open(t)
      await terminal.until(isDrawn)
      terminal.kill(signal)
      assert.deepEqual(await terminal.ended(), { ...how, isRestored: true })
    })
  }

  test('leaves the screen for Ctrl-Z, and comes back', async (t) => {
    const terminal = open(t)
    await terminal.until(isDrawn)
    terminal.press(CTRL_Z)
    // No shell is there that could continue it, so that the kernel does not stop it.
    await terminal.until((_screen, written) => written.split(ENTER).length === 3)
    assert.equal(terminal.written().split(LEAVE).length, 2)
    terminal.press('q')
    assert.deepEqual(await terminal.ended(), { code: 0, signal: null, isRestored: true })
  })

  test('says that the service is lost, keeps its figures, and finds it again', async (t) => {
    let isLost = false
    const answer = (value) => (req, res) => (isLost ? res.destroy() : json(value)(req, res))
    const { url } = await standInFor(t, {
      'GET /snapshot': answer(snapshotOf({ routes: [routeOf('/users/:id', 30)] })),
      'GET /doctor': answer(diagnosisOf()),
    })
    const terminal = openTerminal(t, ['top', url])
    await terminal.until((screen) => /^HEALTHY No problem/m.test(screen))
    isLost = true
    const lines = await terminal.until((screen) => /^LOST /m.test(screen))
    assert.match(lines[1], /^LOST Old figures, \d+ s without an answer: http/)
    assert.ok(rowOf(lines, 'GET /users/:id'))
    isLost = false
    await terminal.until((screen) => /^HEALTHY No problem/m.test(screen))
    terminal.press('q')
    assert.deepEqual(await terminal.ended(), { code: 0, signal: null, isRestored: true })
  })

  test('is drawn anew, and ended by q, while the service does not answer', async (t) => {
    let snapshots = 0
    const { url, requests } = await standInFor(t, {
      'GET /snapshot': (req, res) => {
        if (++snapshots === 1) json(snapshotOf())(req, res)
      },
      'GET /doctor': json(diagnosisOf()),
    })
    const terminal = openTerminal(t, ['top', url])
    const isBlocked = (screen) => /^LOST .* no answer; is its event loop blocked\?$/m.test(screen)
    await terminal.until(isBlocked)
    // Drawn for its new size, not because of an answer.
    terminal.resize({ rows: 12, columns: 100 })
    await terminal.until((screen) => isFrame(screen, 12, 100) && isBlocked(screen))
    terminal.press('q')
    assert.deepEqual(await terminal.ended(), { code: 0, signal: null, isRestored: true })
    assert.deepEqual(requests, ['GET /snapshot', 'GET /doctor', 'GET /live', 'GET /snapshot'])
  })

  test('scrolls to the routes that do not fit', async (t) => {
    const routes = Array.from({ length: 100 }, (_, index) => routeOf(`/r${index}`, 1000 - index))
    const { url } = await standInFor(t, {
      'GET /snapshot': json(snapshotOf({ routes })),
      'GET /doctor': json(diagnosisOf()),
    })
    const terminal = openTerminal(t, ['top', url])
    const lines = await terminal.until((screen) => screen.includes('q quit'))
    assert.ok(rowOf(lines, 'GET /r0 ') && !rowOf(lines, 'GET /r99 '))
    terminal.press('\x1b[F')
    const last = await terminal.until((screen) => screen.includes('GET /r99 '))
    assert.ok(rowOf(last, 'ROUTE') && !rowOf(last, 'GET /r0 '))
    assert.match(last.at(-1), /^q quit/)
    terminal.press('\x1b[5~\x1b[H')
    await terminal.until((screen) => screen.includes('GET /r0 '))
    terminal.resize({ rows: 16, columns: 80 })
    terminal.press(RETURN)
    const detail = await terminal.until((screen) => screen.includes('Durations') && isFrame(screen, 16, 80))
    assert.match(detail.at(-1), /^q quit +Esc back/)
    terminal.press('\x1b[F')
    await terminal.until((screen) => screen.includes('1000 completed'))
    terminal.press('q')
    await terminal.ended()
  })

  test('pointed at nothing it never opens a screen', async (t) => {
    const terminal = openTerminal(t, ['top', '1'])
    assert.deepEqual(await terminal.ended(), { code: 2, signal: null, isRestored: true })
    assert.ok(!terminal.written().includes(ENTER))
    assert.match(
      stripVTControlCharacters(terminal.written()),
      /^spillway: http:\/\/127\.0\.0\.1:1 does not listen\. Start the service/
    )
  })

  test('gives the terminal back when an answer makes it fail', async (t) => {
    let answers = 0
    const { url } = await standInFor(t, {
      'GET /snapshot': json(() => {
        answers++
        return snapshotOf({
          at: `2026-01-01T00:00:0${answers}.000Z`,
          uptimeSeconds: answers,
          ...(answers > 1 && { routes: 7 }),
        })
      }),
      'GET /doctor': json(diagnosisOf()),
    })
    const terminal = openTerminal(t, ['top', url])
    assert.deepEqual(await terminal.ended(), { code: 2, signal: null, isRestored: true })
  })

  test('shows no control character of a service, which could move the cursor', async (t) => {
    const hostile = '/\x1b[2J\x1b]0;owned\x07\u{9b}31m\r\nX\u{202e}'
    const { url } = await standInFor(t, {
      'GET /snapshot': json(
        snapshotOf({
          routes: [routeOf(hostile, 30)],
          errors: [{ route: hostile, status: 500, type: hostile, count: 1 }],
          releases: { current: { version: hostile, revision: '' } },
        })
      ),
      'GET /doctor': json(diagnosisOf({ summary: hostile })),
    })
    const terminal = openTerminal(t, ['top', url], { columns: 140 })
    await terminal.until(isDrawn)
    terminal.press(RETURN)
    await terminal.until((screen) => screen.includes('Esc back'))
    terminal.press('q')
    await terminal.ended()
    const others = terminal
      .written()
      .split(ESCAPE)
      .slice(1)
      .filter((piece) => !OURS.test(piece))
    assert.deepEqual(others, [])
    assert.doesNotMatch(terminal.written().replaceAll(ESCAPE, ''), /(?![\r\n])[\p{Cc}\p{Cf}]/u)
  })
})
