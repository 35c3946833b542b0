'use strict'
// `spillway report` against a real service: what it counts is exactly the run, the exit code of the command
// is passed on, a file that exists is kept, and a service that ends or says nothing costs no figures.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { after, before, describe, test } = require('node:test')
const { readRun } = require('../../src/features/admin/report/document')
const { readTime } = require('../../src/cli/report/span')
const { PROGRAM, plainEnv, runProgram, startService } = require('./program')

/** The admin server takes 20 requests a second. */
const POLL_MS = 100

let folder
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'spillway-report-'))
})
after(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
const newFile = () => join(folder, `report-${++files}.html`)
const runIn = (file) => {
  const run = readRun(readFileSync(file, 'utf8'))
  assert.ok(run !== undefined, 'the file holds its run')
  return run
}
const countsOf = (run) =>
  Object.fromEntries(
    run.routes.map(({ method, route, count, errors }) => [`${method} ${route}`, [count, errors]])
  )

/** A command that asks a route some times and ends with a code. */
const asks = (url, times, code = 0) => [
  '--',
  process.execPath,
  '-e',
  `(async () => {
    for (let i = 0; i < ${times}; i++) await (await fetch('${url}')).text()
    process.exit(${code})
  })()`,
]

/** Recording, until it is told to end. */
async function startRecording(args) {
  const child = spawn(process.execPath, [PROGRAM, 'report', ...args.map(String)], {
    env: plainEnv(),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let err = ''
  const closed = once(child, 'close')
  await new Promise((resolve) => {
    child.stderr.setEncoding('utf8').on('data', (piece) => {
      err += piece
      if (err.includes('Recording.')) resolve(undefined)
    })
    closed.then(resolve)
  })
  return {
    end: async () => {
      child.kill('SIGINT')
      const [code, signal] = await closed
      return { code, signal, err }
    },
  }
}

describe('while a command runs', () => {
  test('counts exactly the requests of the command, and passes on its exit code', async (t) => {
    const { admin, appUrl, get } = await startService(t)
    await get('/users/7', 50)
    await get('/pay', 5)
    const file = newFile()
    const { code, out, err } = await runProgram([
      'report',
      admin,
      '--out',
      file,
      '--title',
      'Users',
      ...asks(`${appUrl}/users/8`, 40, 3),
    ])
    assert.deepEqual([code, out], [3, ''])
    assert.match(
      err,
      /^40 requests in [\d.]+ s, [\d.]+\/s, p50 [\d.]+ ms, p99 [\d.]+ ms, 0 % errors, 0 shed\.$/m
    )
    assert.ok(err.includes(`Saved ${file}`))
    const run = runIn(file)
    assert.deepEqual([run.covers, run.eventsCover, run.title], ['run', 'run', 'Users'])
    assert.deepEqual(countsOf(run), { 'GET /users/:id': [40, 0] })
    assert.deepEqual([run.requests.count, run.requests.errors], [40, 0])
    assert.equal(run.routes[0].latencies.count, 40)
    assert.deepEqual(run.errors, [])
    assert.match(run.command, /-e \(async/)
  })

  test('its figures are those of the service where the run is all that it has done', async (t) => {
    const { admin, adminUrl, appUrl, get } = await startService(t)
    await get('/search', 0)
    const file = newFile()
    assert.equal(
      (await runProgram(['report', admin, '--out', file, ...asks(`${appUrl}/search`, 30)])).code,
      0
    )
    const run = runIn(file)
    let searched
    // The admin server answers with a snapshot of up to a second ago.
    while (searched?.sinceStart.count !== 30) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      const { routes } = await (await fetch(`${adminUrl}/snapshot`)).json()
      searched = routes.find(({ route }) => route === '/search')
    }
    const { sinceStart, parts } = searched
    const [{ latencies, parts: shown }] = run.routes
    for (const name of ['p50Ms', 'p90Ms', 'p95Ms', 'p99Ms', 'p999Ms', 'maxMs'])
      assert.equal(latencies[name], sinceStart[name], name)
    assert.deepEqual(shown, parts.sinceStart)
  })

  test('errors, slow requests and stalls of the run only, with what the doctor found', async (t) => {
    const { admin, appUrl, get } = await startService(t)
    await get('/pay', 4)
    await get('/report', 2)
    const file = newFile()
    await runProgram(['report', admin, '--out', file, ...asks(`${appUrl}/report`, 3)])
    const run = runIn(file)
    assert.deepEqual(run.errors, [])
    assert.deepEqual(
      run.slowest.map(({ route }) => route),
      ['/report', '/report', '/report']
    )
    // Of a busy machine there may be others.
    const stalled = run.stalls.filter(({ route }) => route === '/report')
    assert.ok(stalled.reduce((sum, { count }) => sum + count, 0) <= 3, JSON.stringify(stalled))
    assert.ok(run.stalls.every(({ lastAt }) => Date.parse(lastAt) >= run.from))
    assert.ok(run.findings.every(({ firstAt }) => Date.parse(firstAt) <= run.to))
  })

  test('a command that does not exist is named, and no file is written', async (t) => {
    const { admin } = await startService(t)
    const file = newFile()
    const { code, err } = await runProgram(['report', admin, '--out', file, '--', 'no-such-command'])
    assert.equal(code, 2)
    assert.match(err, /'no-such-command' cannot be run \(ENOENT\)/)
    assert.ok(!existsSync(file))
  })

  test('is not started where the service cannot be asked', async () => {
    const file = join(folder, 'started')
    const { code } = await runProgram([
      'report',
      '1',
      '--',
      process.execPath,
      '-e',
      `require('fs').writeFileSync('${file}', '')`,
    ])
    assert.equal(code, 2)
    assert.ok(!existsSync(file))
  })

  test('a service that ends in the run: the counters as they were last known, and a word about it', async (t) => {
    const { admin, adminUrl, get, kill } = await startService(t)
    await get('/users/7', 5)
    const file = newFile()
    const recording = await startRecording([admin, '--watch', '--out', file])
    kill()
    await assert.rejects(fetch(adminUrl))
    const { code, err } = await recording.end()
    assert.equal(code, 0, err)
    const { notices } = runIn(file)
    assert.equal(notices.length, 1)
    assert.match(notices[0], /the service did not answer\. The tables end at/)
    assert.ok(readFileSync(file, 'utf8').includes('the service did not answer'))
  })
})

describe('from now on', () => {
  test('--watch records until Ctrl-C', async (t) => {
    const { admin, get } = await startService(t)
    await get('/users/7', 9)
    const file = newFile()
    const recording = await startRecording([admin, '--watch', '--out', file])
    await get('/users/7', 11)
    const { code, signal, err } = await recording.end()
    assert.deepEqual([code, signal], [0, null])
    assert.match(
      err,
      /^Recording\. Ctrl-C ends the recording and writes the report\.\n.*1\.4\.0, process \d+ on .+\.\n11 requests in /
    )
    assert.deepEqual(countsOf(runIn(file)), { 'GET /users/:id': [11, 0] })
  })

  test('--for records for so long', async (t) => {
    const { admin, get } = await startService(t)
    const file = newFile()
    let isOver = false
    const recorded = runProgram(['report', admin, '--for', '1.2s', '--out', file]).finally(() => {
      isOver = true
    })
    while (!isOver) await get('/users/7')
    assert.equal((await recorded).code, 0)
    const run = runIn(file)
    assert.ok(run.to - run.from >= 1200, `${run.to - run.from} ms`)
    assert.equal(run.covers, 'run')
    assert.ok(run.curves.rows.length > 0)
  })
})

describe('what the process remembers', () => {
  test('of a young process is all of it', async (t) => {
    const { admin, get } = await startService(t)
    await get('/users/7', 20)
    // A point is taken in the first loop turn after its second is over.
    await untilRemembered(admin, get)
    const file = newFile()
    const { code, err } = await runProgram(['report', admin, '--out', file])
    assert.equal(code, 0, err)
    const run = runIn(file)
    assert.equal(run.covers, 'run')
    assert.ok(countsOf(run)['GET /users/:id'][0] >= 20)
  })

  test('of a part of its life: counts of its seconds, and tables of the last minute, as the report says', async (t) => {
    const { admin, get } = await startService(t)
    await untilRemembered(admin, get, 8)
    const file = newFile()
    const { code, err } = await runProgram(['report', admin, '--from', '-2s', '--out', file])
    assert.equal(code, 0, err)
    const run = runIn(file)
    assert.deepEqual([run.covers, run.eventsCover, run.requests.isBySeconds], ['minute', 'process', true])
    const text = readFileSync(file, 'utf8')
    assert.match(text, /Only the last minute, from \d\d:\d\d:\d\d on/)
    assert.match(text, /Since the process started/)
  })

  test('a time of which it knows nothing is told with what it knows', async (t) => {
    const { admin, get } = await startService(t)
    await untilRemembered(admin, get)
    const { code, err } = await runProgram([
      'report',
      admin,
      '--to',
      '2020-01-01T00:00:00Z',
      '--out',
      newFile(),
    ])
    assert.equal(code, 2)
    assert.match(err, /has no figures of this time\. It remembers the last ten minutes: \d\d:\d\d:\d\d to/)
  })

  test('a time before its start is told with the reason', async (t) => {
    const { admin, get } = await startService(t)
    await untilRemembered(admin, get)
    const { code, err } = await runProgram([
      'report',
      admin,
      '--from',
      '2020-01-01T00:00:00Z',
      '--out',
      newFile(),
    ])
    assert.equal(code, 0)
    assert.match(err, /^Figures from before \d\d:\d\d:\d\d are missing: .* started then\.$/m)
  })

  test('--json prints the figures and writes no file', async (t) => {
    const { admin, get } = await startService(t)
    await untilRemembered(admin, get)
    const empty = mkdtempSync(join(folder, 'empty-'))
    const { code, out } = await runProgram(['report', admin, '--json'], { cwd: empty })
    assert.equal(code, 0)
    assert.equal(JSON.parse(out).format, 'spillway.report.1')
    assert.deepEqual(readdirSync(empty), [])
  })
})

/** @param {(route: string) => Promise<void>} get @param {number} [points] */
async function untilRemembered(admin, get, points = 1) {
  for (;;) {
    await get('/users/7')
    const res = await fetch(`http://127.0.0.1:${admin}/live`)
    const reader = /** @type {ReadableStream} */ (res.body).getReader()
    const { value } = await reader.read()
    await reader.cancel()
    const [line] = Buffer.from(value).toString().split('\n')
    if ((line.match(/"at":/g) ?? []).length >= points) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

describe('the file', () => {
  test('has a name of its own, with the time', async (t) => {
    const { admin, get } = await startService(t)
    await untilRemembered(admin, get)
    const own = mkdtempSync(join(folder, 'own-'))
    const { err } = await runProgram(['report', admin], { cwd: own })
    const [name] = readdirSync(own)
    assert.match(name, /^spillway-report-\d{8}-\d{6}\.html$/)
    assert.ok(err.includes(`Saved ${name} (`))
  })

  test('that exists is replaced with --force only, and never through a link without it', async (t) => {
    const { admin, get } = await startService(t)
    await untilRemembered(admin, get)
    const [file, link] = [newFile(), newFile()]
    writeFileSync(file, 'mine')
    symlinkSync(file, link)
    for (const path of [file, link]) {
      const { code, err } = await runProgram(['report', admin, '--out', path])
      assert.equal(code, 2)
      assert.match(err, /exists\. Give another --out, or --force to replace it\./)
    }
    assert.equal(readFileSync(file, 'utf8'), 'mine')
    assert.equal((await runProgram(['report', admin, '--out', file, '--force'])).code, 0)
    runIn(file)
  })

  test('that came to exist during the run is kept: the report gets another name', async (t) => {
    const { admin } = await startService(t)
    const file = newFile()
    const recording = await startRecording([admin, '--watch', '--out', file])
    writeFileSync(file, 'mine')
    const { code, err } = await recording.end()
    const other = file.replace('.html', '-2.html')
    assert.equal(code, 0)
    assert.ok(err.includes(`Saved ${other}`), err)
    assert.equal(readFileSync(file, 'utf8'), 'mine')
    runIn(other)
  })
})

test('--baseline shows each figure before and now, with its change', async (t) => {
  const { admin, appUrl } = await startService(t)
  const [first, second] = [newFile(), newFile()]
  await runProgram(['report', admin, '--out', first, '--title', 'First', ...asks(`${appUrl}/users/7`, 20)])
  await runProgram(['report', admin, '--out', second, '--baseline', first, ...asks(`${appUrl}/users/7`, 60)])
  const text = readFileSync(second, 'utf8')
  assert.match(text, /Before: First, /)
  assert.match(
    text,
    /<th scope="row" class="text">requests<\/th><td class="figure">20<\/td><td class="figure">60<\/td>/
  )
  assert.match(text, /Before and after, by route[\s\S]*GET \/users\/:id/)
  assert.deepEqual(countsOf(runIn(second)), { 'GET /users/:id': [60, 0] })
})

test('a token is sent, and stands in no report; nor does a secret of the command', async (t) => {
  const token = 'correct-horse-battery-staple'
  const { admin, appUrl } = await startService(t, { SERVICE_TOKEN: token })
  const file = newFile()
  const env = { SPILLWAY_ADMIN_TOKEN: token }
  const more = ['--', '-H', `Authorization: Bearer ${token}`, '--password', 'hunter22', '-d', '30']
  const args = ['report', admin, '--out', file, ...asks(appUrl, 3), ...more]
  assert.equal((await runProgram(args, { env })).code, 0)
  const text = readFileSync(file, 'utf8')
  assert.ok(!text.includes(token) && !text.includes('hunter22'))
  assert.match(runIn(file).command, /-H Authorization: \[Redacted\] --password \[Redacted\] -d 30$/)
  assert.equal((await runProgram(['report', admin, '--out', newFile(), ...asks(appUrl, 3)])).code, 2)
})

describe('times', () => {
  const noon = new Date(2026, 10, 26, 12, 0, 0).getTime()
  const cases = {
    '-5m': noon - 300_000,
    '-90s': noon - 90_000,
    '-1.5h': noon - 5_400_000,
    '11:58': noon - 120_000,
    '11:59:30': noon - 30_000,
    '2026-11-26T11:00:00Z': Date.UTC(2026, 10, 26, 11),
  }
  for (const [typed, expected] of Object.entries(cases))
    test(typed, () => assert.equal(readTime(typed, '--from')(noon), expected))

  test('a time of day that is still to come was yesterday', () => {
    assert.equal(new Date(readTime('23:50', '--from')(noon)).getDate(), 25)
  })

  for (const typed of ['', '5m', '25:00', '14', 'yesterday', '-5', '2026-13-01'])
    test(`'${typed}' is none`, () => assert.throws(() => readTime(typed, '--from'), /--from needs a time/))
})
