'use strict'
// The commands that print once, run against a real service: what they print for people and for scripts, and
// their exit codes.

const assert = require('node:assert/strict')
const { after, before, describe, test } = require('node:test')
const { VERSION } = require('../../src/core/version')
const { diagnosisOf, json, snapshotOf, standInFor } = require('./admin-stand-in')
const { runProgram, startService } = require('./program')

const ESCAPE = '\x1b'

describe('of a real service', () => {
  const ends = []
  let service
  before(async () => {
    service = await startService({ after: (end) => ends.push(end) })
    await service.get('/users/7', 30)
    await service.get('/pay', 3)
  })
  after(() => {
    for (const end of ends) end()
  })
  const run = (command, ...args) => runProgram([command, service.admin, ...args])

  test('snapshot prints sections with figures and units', async () => {
    const { code, out, err } = await run('snapshot')
    assert.deepEqual([code, err], [0, ''])
    assert.match(out, /^http:\/\/127\.0\.0\.1:\d+, release 1\.4\.0, up \d+/)
    for (const title of ['Requests', 'Routes, last minute', 'Gate', 'Process', 'Slowest requests', 'Errors'])
      assert.match(out, new RegExp(`^${title}$`, 'm'))
    assert.match(out, /^ {2}GET \/users\/:id +30 /m)
    assert.match(out, /^ {2}\/pay +500 +TypeError +3$/m)
    assert.match(out, /^ {2}heap +[\d.]+ MB used/m)
    assert.doesNotMatch(out, /undefined|NaN|\[object/)
    assert.doesNotMatch(out, / $/m)
  })

  test('snapshot --json is what the service says', async () => {
    const { code, out } = await run('snapshot', '--json')
    const { routes } = JSON.parse(out)
    assert.equal(code, 0)
    assert.equal(routes.find(({ route }) => route === '/users/:id').sinceStart.count, 30)
    assert.equal(out.split('\n').length, 2)
  })

  test('config prints an option a line', async () => {
    const { code, out } = await run('config')
    assert.equal(code, 0)
    assert.match(out, /^shed\.mode +adaptive$/m)
    assert.match(out, /^release\.version +1\.4\.0$/m)
    assert.equal(JSON.parse((await run('config', '--json')).out).shed.mode, 'adaptive')
  })

  test('top prints the table once, plain and whole', async () => {
    const { code, out, err } = await run('top', '--sort', 'errors')
    assert.deepEqual([code, err], [0, ''])
    assert.ok(!out.includes(ESCAPE))
    const [, , , , head, first] = out.split('\n')
    assert.match(head, /^ROUTE .*ERRORS\*.* MOSTLY$/)
    assert.match(first, /^GET \/pay .* 100 % /)
    const { snapshot, diagnosis } = JSON.parse((await run('top', '--json')).out)
    assert.deepEqual([typeof snapshot.uptimeSeconds, typeof diagnosis.summary], ['number', 'string'])
  })

  test('the port may be given in a URL, or by a variable of the environment', async () => {
    for (const [args, env] of [
      [[`127.0.0.1:${service.admin}`], {}],
      [[`${service.adminUrl}/`], {}],
      [[], { SPILLWAY_ADMIN_URL: service.adminUrl }],
      [[], { SPILLWAY_ADMIN_URL: String(service.admin) }],
    ])
      assert.equal((await runProgram(['config', ...args], { env })).code, 0, String(args))
  })
})

test('an admin server may be behind a path prefix', async (t) => {
  const { url, requests } = await standInFor(t, { 'GET /shop/doctor': json(diagnosisOf()) })
  assert.equal((await runProgram(['doctor', `${url}/shop/`])).code, 0)
  assert.deepEqual(requests, ['GET /shop/doctor'])
})

describe('doctor', () => {
  const doctorOf = async (t, more) => {
    const { url } = await standInFor(t, { 'GET /doctor': json(diagnosisOf(more)) })
    return (...args) => runProgram(['doctor', url, ...args])
  }

  test('ends with 0 where nothing is wrong', async (t) => {
    const run = await doctorOf(t, {})
    const { code, out } = await run()
    assert.deepEqual([code, out], [0, 'Healthy: no problem found in 100 requests in the last 60 s.\n'])
  })

  test('ends with 0 where there is too little traffic to tell', async (t) => {
    const run = await doctorOf(t, { healthy: null, summary: 'Not enough traffic to tell: 2 requests.' })
    assert.equal((await run()).code, 0)
  })

  test('ends with 1 for a service one of whose routes fails, and names it', async (t) => {
    const service = await startService(t)
    let answer
    // The doctor says nothing of the first five seconds.
    do {
      await service.get('/users/7', 20)
      await service.get('/pay', 20)
      answer = await runProgram(['doctor', service.admin])
    } while (answer.code === 0)
    assert.equal(answer.code, 1)
    assert.match(answer.out, /^(HIGH|MEDIUM) {2}errors$/m)
    assert.match(answer.out, /GET \/pay/)
    const again = await runProgram(['doctor', service.admin, '--json'])
    assert.equal(again.code, 1)
    assert.ok(JSON.parse(again.out).findings.some(({ problem }) => problem === 'errors'))
  })

  test('names the command that shows more, with the address', async (t) => {
    const finding = {
      problem: 'cpu-saturated',
      severity: 'high',
      summary: 'The event loop was busy for 98 % of the time.',
      evidence: [],
      advice: 'Run more processes.',
      effectOf: null,
      more: 'docs/insight.md',
    }
    const findings = [finding, { ...finding, problem: 'heap-growing' }, { ...finding, problem: 'errors' }]
    const { url } = await standInFor(t, { 'GET /doctor': json(diagnosisOf({ healthy: false, findings })) })
    const { out } = await runProgram(['doctor', url])
    assert.deepEqual(out.match(/^ {4}Next: .*$/gm), [
      `    Next: npx spillway profile ${url}`,
      `    Next: npx spillway heap ${url}`,
    ])
  })

  test('ends with 2 where it cannot ask', async () => {
    const { code, out } = await runProgram(['doctor', 1])
    assert.deepEqual([code, out], [2, ''])
  })
})

describe('stalls', () => {
  const site = {
    cause: 'javascript',
    function: 'hashPassword',
    file: 'auth.js',
    line: 41,
    package: null,
    call: 'crypto.pbkdf2Sync',
    bodyBytes: null,
    route: '/login',
    method: 'POST',
    origin: 'request',
    count: 2,
    totalMs: 412.4,
    maxMs: 212.2,
    lastAt: '2026-01-01T00:00:00.000Z',
    frames: Array.from({ length: 12 }, (_, index) => `frame${index} (auth.js:${index})`),
  }

  test('prints each place with its sums and the top of its stack', async (t) => {
    const { url } = await standInFor(t, {
      'GET /snapshot': json(snapshotOf({ stalls: { count: 2, totalMs: 412.4, sites: [site] } })),
    })
    const { code, out } = await runProgram(['stalls', url])
    assert.equal(code, 0)
    const lines = out.split('\n')
    assert.equal(lines[0], 'Blocked 2 times since the start, for 412 ms in total. The costliest place first.')
    assert.equal(lines[2], 'javascript: hashPassword (auth.js:41) calling crypto.pbkdf2Sync in POST /login')
    assert.match(lines[3], /^ {4}2 times, 412 ms in total, 212 ms at most, last at \d\d:\d\d:\d\d$/)
    assert.equal(lines[4], '      at frame0 (auth.js:0)')
    assert.equal(lines.at(-2), '      and 4 more')
    assert.deepEqual(JSON.parse((await runProgram(['stalls', url, '--json'])).out).sites, [site])
  })

  test('says what to do next where no code is named', async (t) => {
    const unnamed = { ...site, function: null, file: null, line: null, frames: [] }
    const sites = ['host', 'unknown', 'garbage-collection'].map((cause) => ({ ...unnamed, cause }))
    const { url } = await standInFor(t, {
      'GET /snapshot': json(snapshotOf({ stalls: { count: 6, totalMs: 900, sites: [...sites, site] } })),
    })
    const { out } = await runProgram(['stalls', url])
    const [host, unknown, heap, ...others] = out.match(/^ {4}Next: .*$/gm) ?? []
    assert.match(host, /Other processes had the CPU\. npx spillway doctor http/)
    assert.match(
      unknown,
      /names the function of the next stall\. If no function is named, run npx spillway profile http/
    )
    assert.match(heap, /npx spillway heap http/)
    assert.deepEqual(others, [], 'code that is named needs none')
  })

  test('says that there is none', async (t) => {
    const { url } = await standInFor(t, { 'GET /snapshot': json(snapshotOf()) })
    const { code, out } = await runProgram(['stalls', url])
    assert.deepEqual([code, out], [0, 'Nothing has blocked the event loop since the start.\n'])
  })
})

describe('what the program says of itself', () => {
  test('--version, and the help of the program and of each command', async () => {
    assert.equal((await runProgram(['--version'])).out, `${VERSION}\n`)
    const { code, out } = await runProgram([])
    assert.equal(code, 0)
    for (const command of ['top', 'doctor', 'stalls', 'snapshot', 'config', 'profile', 'heap']) {
      assert.match(out, new RegExp(`^ {2}${command} `, 'm'))
      const help = await runProgram([command, '--help'])
      assert.deepEqual([help.code, help.err], [0, ''])
      assert.match(help.out, new RegExp(`^spillway ${command} \\[port or URL\\]`))
      assert.match(
        help.out,
        new RegExp(`^Examples:\n {2}(SPILLWAY_ADMIN_TOKEN=\\.\\.\\. )?spillway ${command}`, 'm')
      )
    }
    assert.equal((await runProgram(['help', 'top'])).out, (await runProgram(['top', '-h'])).out)
  })
})
