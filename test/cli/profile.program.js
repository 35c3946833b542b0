'use strict'
// `spillway profile` and `spillway heap` against the contract of the admin server: progress, tables, the
// file, refusals, and that the server sees the end of a client that is stopped.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { after, before, describe, test } = require('node:test')
const { stripVTControlCharacters } = require('node:util')
const { standInFor } = require('./admin-stand-in')
const { PROGRAM, plainEnv, runProgram, startService } = require('./program')
const { TERMINAL_SKIP, openTerminal } = require('./terminal')

let folder
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'spillway-cli-'))
})
after(() => rmSync(folder, { recursive: true, force: true }))

const row = (name, selfShare, totalShare, more) => ({
  name,
  file: 'src/auth.js',
  line: 41,
  package: 'app',
  selfMs: selfShare * 1000,
  totalMs: totalShare * 1000,
  selfBytes: selfShare * 1e6,
  totalBytes: totalShare * 1e6,
  selfShare,
  totalShare,
  isHandler: false,
  ...more,
})
const RESULT = {
  startPauseMs: 31.4,
  durationMs: 1001,
  samples: 812,
  functions: [
    row('pbkdf2Sync', 0.62, 0.62, { file: 'node:crypto', line: null }),
    row('login', 0.1, 0.75, { isHandler: true }),
    row('', 0.05, 0.05),
    row('noise', 0, 0.0004),
  ],
  files: [],
  packages: [row('node', 0.62, 0.62, { package: 'node' }), row('app', 0.15, 0.8)],
  flame: { name: '(root)', file: '', line: 0, package: '', ms: 1000, children: [] },
}
const progress = (elapsedMs) => ({ progress: { elapsedMs, totalMs: 1000 } })
const lines =
  (...values) =>
  (_req, res) => {
    res.writeHead(200, { 'Content-Type': 'application/x-ndjson' })
    res.end(values.map((value) => `${JSON.stringify(value)}\n`).join(''))
  }
const say = (status, sentence) => (_req, res) => res.writeHead(status).end(`${sentence}\n`)

describe('profile', () => {
  test('asks for the seconds, and prints packages before functions, with the handlers marked', async (t) => {
    const { url, requests } = await standInFor(t, {
      'POST /profile': lines(progress(500), { result: RESULT }),
    })
    const { code, out, err } = await runProgram(['profile', url, '--seconds', '1'])
    assert.deepEqual([code, err], [0, ''])
    assert.deepEqual(requests, ['POST /profile?seconds=1'])
    const printed = out.split('\n')
    assert.equal(printed[0], '1 s, 812 samples, the start paused the process for 31 ms')
    assert.match(printed[2], /^ +self +total +package$/)
    assert.match(printed[3], /^ *620 ms +62 % +620 ms +62 % +node$/)
    assert.match(printed[6], /^ +self +total +function +where$/)
    assert.match(printed[7], /620 ms +62 % +620 ms +62 % +pbkdf2Sync +node:crypto$/)
    assert.match(printed[8], /100 ms +10 % +750 ms +75 % +login \* +src\/auth\.js:41$/)
    assert.match(printed[9], /\(anonymous\)/)
    assert.ok(!out.includes('noise'))
    assert.equal(printed.at(-2), '* the handler of a route')
  })

  test('shows its progress on a terminal, and removes it', { skip: TERMINAL_SKIP }, async (t) => {
    const { url } = await standInFor(t, { 'POST /profile': lines(progress(500), { result: RESULT }) })
    const terminal = openTerminal(t, ['profile', url])
    assert.deepEqual(await terminal.ended(), { code: 0, signal: null, isRestored: true })
    const written = terminal.written()
    assert.ok(written.includes('Profiling ██████████░░░░░░░░░░ 1 of 1 s\r\x1b[K'), written)
    assert.match(stripVTControlCharacters(written), /login \*/)
  })

  test('--json prints the result as it came', async (t) => {
    const { url } = await standInFor(t, { 'POST /profile': lines({ result: RESULT }) })
    assert.deepEqual(JSON.parse((await runProgram(['profile', url, '--json'])).out), RESULT)
  })

  test('--out saves the file that the server keeps', async (t) => {
    const file = join(folder, 'slow.cpuprofile')
    const { url, requests } = await standInFor(t, {
      'POST /profile': lines({ result: RESULT }),
      'GET /profile/last.cpuprofile': (_req, res) => res.end('{"nodes":[]}'),
    })
    const { code, err } = await runProgram(['profile', url, '--out', file])
    assert.deepEqual([code, err], [0, `Saved ${file}.\n`])
    assert.equal(readFileSync(file, 'utf8'), '{"nodes":[]}')
    assert.deepEqual(requests, ['POST /profile?seconds=10', 'GET /profile/last.cpuprofile'])
  })

  test('takes no profile for a file that cannot be written', async (t) => {
    const { url, requests } = await standInFor(t, {})
    const { code, err } = await runProgram(['profile', url, '--out', join(folder, 'none', 'x.cpuprofile')])
    assert.equal(code, 2)
    assert.match(err, /cannot be written: its folder does not exist/)
    assert.deepEqual(requests, [])
  })

  test('--out replaces no file and follows no link, unless --force says so, and takes no profile for them', async (t) => {
    const file = join(folder, 'kept.cpuprofile')
    const link = join(folder, 'link.cpuprofile')
    writeFileSync(file, 'kept')
    symlinkSync(file, link)
    const { url, requests } = await standInFor(t, {
      'POST /profile': lines({ result: RESULT }),
      'GET /profile/last.cpuprofile': (_req, res) => res.end('new'),
    })
    for (const path of [file, link]) {
      const { code, err } = await runProgram(['profile', url, '--out', path])
      assert.equal(code, 2)
      assert.match(err, /is already there\. Give another --out, or --force to replace it\.$/m)
    }
    const inFolder = await runProgram(['profile', url, '--out', folder, '--force'])
    assert.match(inFolder.err, /is a folder\. Give a file to --out\./)
    assert.deepEqual(requests, [])
    assert.equal(readFileSync(file, 'utf8'), 'kept')
    assert.equal((await runProgram(['profile', url, '--out', file, '--force'])).code, 0)
    assert.equal(readFileSync(file, 'utf8'), 'new')
  })

  test('--out does not replace a file that has come while the profile was taken', async (t) => {
    const file = join(folder, 'late.cpuprofile')
    const { url } = await standInFor(t, {
      'POST /profile': (req, res) => {
        writeFileSync(file, 'kept')
        lines({ result: RESULT })(req, res)
      },
      'GET /profile/last.cpuprofile': (_req, res) => res.end('new'),
    })
    const { code, err } = await runProgram(['profile', url, '--out', file])
    assert.equal(code, 2)
    assert.match(err, /cannot be written \(EEXIST\)\. The service keeps the file for some minutes/)
    assert.equal(readFileSync(file, 'utf8'), 'kept')
  })

  test('--worker asks for another worker, and for its file', async (t) => {
    const file = join(folder, 'worker.cpuprofile')
    const { url, requests } = await standInFor(t, {
      'POST /profile': lines({ result: RESULT }),
      'GET /profile/last.cpuprofile': (_req, res) => res.end('{"nodes":[]}'),
    })
    const { code } = await runProgram(['profile', url, '--worker', 'main.1&2', '--out', file])
    assert.equal(code, 0)
    const worker = 'worker=main.1%262'
    assert.deepEqual(requests, [
      `POST /profile?seconds=10&${worker}`,
      `GET /profile/last.cpuprofile?${worker}`,
    ])
    const unknown = 'No worker has this name. There are: 1, 2.'
    const other = await standInFor(t, { 'POST /heap': say(404, unknown) })
    const { err } = await runProgram(['heap', other.url, '--worker', '3'])
    assert.equal(err, `spillway: ${unknown}\n`)
  })

  for (const [status, sentence] of /** @type {const} */ ([
    [502, 'Worker 2 has ended before it answered.'],
    [409, 'Another profile is running: ask again when it has ended.'],
    [503, 'The process is overloaded: ask again later.'],
    [400, 'Give seconds from 1 to 60.'],
  ]))
    test(`passes on why the server refuses with ${status}`, async (t) => {
      const { url } = await standInFor(t, { 'POST /profile': say(status, sentence) })
      const { code, out, err } = await runProgram(['profile', url])
      assert.deepEqual([code, out, err], [2, '', `spillway: ${sentence}\n`])
    })

  test('says that a service without profiles has none', async (t) => {
    const { url } = await standInFor(t, {})
    const old = await standInFor(t, { 'POST /heap': say(405, 'Only GET and HEAD are allowed.') })
    assert.match(
      (await runProgram(['profile', url])).err,
      /has no CPU profiles\. Update the package in the service/
    )
    assert.match(
      (await runProgram(['heap', old.url])).err,
      /has no heap profiles\. Update the package in the service/
    )
  })

  test('says that the service ended in the middle', async (t) => {
    const { url } = await standInFor(t, {
      'POST /profile': (_req, res) => {
        res.writeHead(200).write(`${JSON.stringify(progress(500))}\n`)
        setImmediate(() => res.destroy())
      },
    })
    const { code, out, err } = await runProgram(['profile', url])
    assert.deepEqual([code, out], [2, ''])
    assert.match(err, /closed the connection before its answer was whole/)
    const short = await standInFor(t, { 'POST /profile': lines(progress(500)) })
    assert.match((await runProgram(['profile', short.url])).err, /ended without a result/)
    const failing = await standInFor(t, {
      'POST /profile': lines(progress(500), { error: 'The profile could not be made: no worker' }),
    })
    const failed = await runProgram(['profile', failing.url])
    assert.equal(failed.code, 2)
    assert.match(failed.err, /127\.0\.0\.1:\d+: The profile could not be made: no worker\n/)
  })

  test('that is stopped by Ctrl-C closes its connection', async (t) => {
    let isAsked = (_res) => {}
    const asked = new Promise((resolve) => {
      isAsked = resolve
    })
    const { url } = await standInFor(t, {
      'POST /profile': (_req, res) => {
        res.writeHead(200).write(`${JSON.stringify(progress(500))}\n`)
        isAsked(res)
      },
    })
    const child = spawn(process.execPath, [PROGRAM, 'profile', url], { env: plainEnv(), stdio: 'ignore' })
    const res = await asked
    const closed = once(res, 'close')
    child.kill('SIGINT')
    await closed
    assert.deepEqual(await once(child, 'exit'), [null, 'SIGINT'])
  })
})

test('heap counts bytes', async (t) => {
  const { url, requests } = await standInFor(t, { 'POST /heap': lines({ result: RESULT }) })
  const { code, out } = await runProgram(['heap', url])
  assert.equal(code, 0)
  assert.deepEqual(requests, ['POST /heap?seconds=60'])
  assert.match(out, /^ *620 kB +62 % +620 kB +62 % +pbkdf2Sync/m)
})

test('heap says first what grew between its two readings, and how much that is an hour', async (t) => {
  const grown = { name: 'remember', file: 'src/cache.js', line: 12, package: null, isHandler: false }
  const growth = [{ ...grown, beforeBytes: 1e6, selfBytes: 3e6, growthBytes: 2e6 }]
  const { url } = await standInFor(t, {
    'POST /heap': lines({ result: { ...RESULT, growth, growthMs: 30_000, readPauseMs: 120 } }),
  })
  const { out } = await runProgram(['heap', url])
  assert.match(out, /^1 s, .*, a reading paused the process for 120 ms at most\n\nGrew in the last 30 s\n/)
  assert.match(out, /^ *2 MB +240 MB +3 MB +remember +src\/cache\.js:12$/m)
  assert.ok(out.indexOf('remember') < out.indexOf('pbkdf2Sync'))
  const none = await standInFor(t, {
    'POST /heap': lines({ result: { ...RESULT, growth: [], growthMs: 5000 } }),
  })
  assert.match((await runProgram(['heap', none.url])).out, /^Nothing grew in the last 5 s\.$/m)
})

test('heap says how much memory outside the heap grew, which the profile does not show', async (t) => {
  const outOf = async (externalGrowthBytes) => {
    const result = { ...RESULT, growth: [], growthMs: 30_000, externalGrowthBytes }
    const { url } = await standInFor(t, { 'POST /heap': lines({ result }) })
    return (await runProgram(['heap', url])).out
  }
  assert.match(
    await outOf(48e6),
    /^Memory outside the heap grew by 48 MB meanwhile\. This profile does not show it\.\n\n/m
  )
  for (const little of [999_999, -48e6, undefined]) assert.ok(!(await outOf(little)).includes('outside'))
})

test('of a real service it works, or says that the service has none', async (t) => {
  const { admin, get } = await startService(t)
  // An idle process may run nothing at all in a second, so it answers requests until the profile is there.
  let isProfiled = false
  const profiled = runProgram(['profile', admin, '--seconds', '1']).finally(() => {
    isProfiled = true
  })
  while (!isProfiled) await get('/')
  const { code, out, err } = await profiled
  if (code === 0) assert.match(out, /^ +self +total +function +where$/m)
  else assert.match(err, /has no CPU profiles/)
})
