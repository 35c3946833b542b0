'use strict'
// CPU profiles of a real server in a process of its own, taken at its admin server under load.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { test } = require('node:test')
const zlib = require('node:zlib')
const { Profile } = require('pprof-format')
const { CallFrames } = require('../../src/features/profiles/call-frames')
const { tablesOf } = require('../../src/features/profiles/profile-tables')
const { cpuTree } = require('../../src/features/profiles/profile-tree')
const { startProfiled } = require('./start-profiled')

/** A host that is this busy fills the loop by itself. */
const MAX_WAIT_SHARE = 0.1
const SAMPLE_MICROSECONDS = 2000
const MIN_SAMPLES = 1200
const LINES = { headers: { accept: 'application/x-ndjson' } }

test('a profile under load names the function that burns, its handler, and its package', async (t) => {
  const { post, get, loading } = await startProfiled(t)
  const { status, headers, body } = await loading('/burn', () => post('/profile?seconds=2', LINES))
  assert.equal(status, 200)
  assert.equal(headers['content-type'], 'application/x-ndjson')
  const lines = body
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const { result } = lines.pop()
  assert.equal(lines[0].progress.totalMs, 2000)
  assert.ok(lines.length >= 3, `${lines.length} lines of progress`)
  const { functions, files, packages, flame, samples, startPauseMs, busyMs, idleMs, durationMs } = result
  const { name, file, line, package: of, selfShare, isHandler } = functions[0]
  assert.deepEqual(
    { name, file, of, isHandler },
    { name: 'burnCpu', file: 'test/profiles/profiled-server.js', of: null, isHandler: false }
  )
  assert.ok(line > 1 && selfShare > 0.3, `${line} ${selfShare}`)
  assert.equal(files[0].name, 'test/profiles/profiled-server.js')
  assert.ok(packages.some((row) => row.name === 'express' && row.package === 'express'))
  assert.deepEqual(
    functions.filter((row) => row.isHandler).map((row) => row.name),
    ['burnHandler']
  )
  assert.ok(samples > 10 && startPauseMs > 0 && durationMs >= 1999)
  assert.ok(Math.abs(busyMs + idleMs - durationMs) < durationMs / 2, `${busyMs} + ${idleMs} of ${durationMs}`)
  assert.ok(pathTo(flame, 'burnCpu').includes('burnHandler'))
  assert.equal((await get('/profile')).json.lastStartPauseMs, startPauseMs)
  const last = await get('/profile/last.cpuprofile')
  assert.match(last.headers['content-disposition'], /^attachment; filename="spillway-.*\.cpuprofile"$/)
  assert.equal(last.json.samples.length, samples)
  const pprof = Profile.decode(zlib.gunzipSync((await get('/profile/last.pb.gz')).body))
  assert.ok(pprof.stringTable.strings.includes('burnCpu'))
  const sum = pprof.sample.reduce((all, { value: [ns] }) => all + Number(ns), 0) / 1e6
  assert.ok(Math.abs(sum - busyMs) < 1, `${sum} of ${busyMs}`)
})

function pathTo(node, name, above = /** @type {string[]} */ ([])) {
  const path = [...above, node.name]
  if (node.name === name) return path
  for (const child of node.children) {
    const found = pathTo(child, name, path)
    if (found.length > 0) return found
  }
  return []
}

test('a package that burns is the first package', async (t) => {
  const { post, loading } = await startProfiled(t)
  const { body } = await loading('/package', () => post('/profile?seconds=1', LINES))
  const { result } = JSON.parse(body.toString().trim().split('\n').at(-1))
  assert.equal(result.packages[0].name, '@scope/slow-package')
  assert.equal(result.functions[0].package, '@scope/slow-package')
})

for (const [what, path, name] of /** @type {const} */ ([
  ['a logger that takes a twentieth', '/logged', 'costly-logger'],
  ['a driver that takes a fifth', '/queried', 'costly-driver'],
]))
  test(`${what} of the CPU of its service is the first package`, async (t) => {
    const { post, loading } = await startProfiled(t)
    const shares = new Map()
    // A busy machine gives so few samples that they say nothing: then it takes several profiles.
    for (let samples = 0; samples < MIN_SAMPLES; ) {
      const { json: profile } = await loading(path, () => post('/profile?seconds=3'))
      const { root } = cpuTree(evenly(profile), new CallFrames())
      for (const row of tablesOf(root, 'Ms').packages)
        if (row.package !== null) shares.set(row.package, (shares.get(row.package) ?? 0) + row.selfMs)
      samples += profile.samples.length
    }
    // What Spillway records of the stalls of a busy machine is none of the service.
    shares.delete('spillway')
    const ranked = [...shares].sort((a, b) => b[1] - a[1])
    assert.equal(ranked[0][0], name, JSON.stringify(ranked.slice(0, 3)))
  })

/**
 * A machine that others use takes the CPU away in the middle of a sample, which is then as long as it likes:
 * here all are alike.
 */
function evenly(profile) {
  const timeDeltas = profile.timeDeltas.map(() => SAMPLE_MICROSECONDS)
  return { ...profile, timeDeltas, endTime: profile.startTime + SAMPLE_MICROSECONDS * timeDeltas.length }
}

test('it answers with the profile itself, or with pprof', async (t) => {
  const { post } = await startProfiled(t)
  const plain = await post('/profile?seconds=1')
  assert.match(plain.headers['content-type'], /^application\/json/)
  assert.ok(JSON.parse(plain.body.toString()).nodes.length > 0)
  const zipped = await post('/profile?seconds=1', { headers: { 'accept-encoding': 'gzip' } })
  assert.equal(zipped.headers['content-encoding'], 'gzip')
  assert.ok(JSON.parse(zlib.gunzipSync(zipped.body).toString()).nodes.length > 0)
  for (const accept of ['application/x-protobuf', 'application/vnd.google.protobuf']) {
    const { headers, body } = await post('/profile?seconds=1', { headers: { accept } })
    assert.equal(headers['content-type'], accept)
    assert.equal(Profile.decode(zlib.gunzipSync(body)).sampleType.length, 1)
  }
})

test('the timeout of the admin server does not cut an answer that takes longer', async (t) => {
  const { post } = await startProfiled(t, { timeout: 300 })
  const { status, json } = await post('/profile?seconds=2')
  assert.equal(status, 200)
  assert.ok(json.nodes.length > 0)
})

test('wrong seconds are refused', async (t) => {
  const { post } = await startProfiled(t)
  for (const seconds of ['0', '61', '-1', '0.5', 'ten', '1e1', '', 'Infinity']) {
    const { status, body } = await post(`/profile?seconds=${seconds}`)
    assert.equal(status, 400, seconds)
    assert.equal(body.toString(), 'Give ?seconds= as a number from 1 to 60.\n')
  }
})

test('one is taken at a time, of whatever kind, and a client that disconnects ends it', async (t) => {
  const { begin, post, get, idleShare } = await startProfiled(t)
  const gone = await begin('/profile?seconds=60')
  for (const path of ['/profile?seconds=1', '/heap?seconds=1']) {
    const { status, body } = await post(path)
    assert.deepEqual(
      [status, body.toString()],
      [409, 'Another profile is being taken. Wait until it has ended.\n']
    )
  }
  gone.destroy()
  while ((await get('/profile')).json.refusal !== null);
  assert.equal((await get('/profile/last.cpuprofile')).status, 404)
  assert.ok((await idleShare()) > 0.9)
  assert.equal((await post('/profile?seconds=1')).status, 200)
})

test('the idle time is right while a profile runs and afterwards', async (t) => {
  const { begin, get, idleShare, nodeIdleShare } = await startProfiled(t)
  const profile = await begin('/profile?seconds=60')
  const [share, ofNode] = [await idleShare(), await nodeIdleShare()]
  profile.destroy()
  while ((await get('/profile')).json.refusal !== null);
  if (process.platform === 'linux') assert.ok(ofNode < share, `${ofNode} ${share}`)
  assert.ok(share > 0.6, `${share}`)
  assert.ok((await idleShare()) > 0.8)
  assert.ok((await nodeIdleShare()) > 0.8)
})

/** Whether the process waited for a CPU for so long that what was shed says nothing. */
function isStarved(before, after) {
  return after.waitedMs - before.waitedMs > MAX_WAIT_SHARE * (after.atMs - before.atMs)
}

test('bursts of cheap requests are not shed while a profile runs, and it makes no stall', async (t) => {
  const { ask, post, request } = await startProfiled(t, { options: { insight: { stallThreshold: 50 } } })
  const before = await ask('state')
  const profile = post('/profile?seconds=3')
  const statuses = new Set()
  for (let ended = false; !ended; ) {
    const burst = Array.from({ length: 30 }, () => request('/hello'))
    for (const { status } of await Promise.all(burst)) statuses.add(status)
    ended = await Promise.race([
      profile.then(() => true),
      new Promise((resolve) => setTimeout(resolve, 50, false)),
    ])
  }
  const after = await ask('state')
  const { stalls, shed } = after
  if (isStarved(before, after)) t.diagnostic('the host was busy: shedding was not judged')
  else assert.deepEqual([[...statuses], shed], [[200], 0])
  assert.deepEqual(
    stalls.filter(({ name }) => /post|Profiler|pausing/.test(name ?? '')),
    []
  )
})

for (const [how, code, signal] of [
  ['exit', 3, null],
  ['kill', null, 'SIGTERM'],
]) {
  test(`a process that ends by ${how} in the middle prints nothing`, async (t) => {
    const { begin, child, printed, closed } = await startProfiled(t)
    await begin('/profile?seconds=60')
    child.send(how)
    assert.deepEqual(await closed, { code, signal })
    assert.equal(printed(), '')
  })
}

test('close() ends a profile', async (t) => {
  const { ask, begin, idleShare } = await startProfiled(t)
  const req = await begin('/profile?seconds=60')
  const ended = once(req, 'close')
  await ask('close')
  await ended
  assert.ok((await idleShare()) > 0.9)
})

test('under --inspect it is refused', async (t) => {
  const { post, get } = await startProfiled(t, { args: ['--inspect=127.0.0.1:0'] })
  for (const path of ['/profile?seconds=1', '/heap?seconds=1']) {
    const { status, body } = await post(path)
    assert.equal(status, 503)
    assert.match(body.toString(), /^The process runs under --inspect, .*\n$/)
  }
  assert.match((await get('/profile')).json.refusal, /--inspect/)
})
