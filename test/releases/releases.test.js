'use strict'
// Which release this is, and how it compares with the one before, from a file that may be anything.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const http = require('node:http')
const { test } = require('node:test')
const express = require('express')
const { ReleaseHistory, releaseOf } = require('../../src/features/releases/release-history.js')
const { takeFigures } = require('../../src/features/releases/release-figures.js')
const { resolveOptions } = require('../../src/core/options/options.js')
const { InternalErrors } = require('../../src/core/errors/internal-errors.js')
const { Recorder } = require('../../src/core/request/recorder.js')
const { FakeClock } = require('../support/fake-clock.js')
const { parse } = require('../support/metrics-text.js')
const { serve } = require('../support/serve.js')
const { ended, spillwayFor } = require('../support/spillway.js')

const NONE = { version: undefined, revision: undefined }

for (const [given, environment, expected] of [
  [NONE, {}, { version: '', revision: '' }],
  [NONE, { npm_package_version: '1.2.3', GITHUB_SHA: 'abc' }, { version: '1.2.3', revision: 'abc' }],
  [NONE, { GITHUB_SHA: ' ', GIT_COMMIT: 'def' }, { version: '', revision: 'def' }],
  [
    NONE,
    { VERCEL_GIT_COMMIT_SHA: 'of the platform', CI_COMMIT_SHA: 'of the build' },
    { version: '', revision: 'of the platform' },
  ],
  [
    { version: '2', revision: 'own' },
    { npm_package_version: '1', GIT_COMMIT: 'x' },
    { version: '2', revision: 'own' },
  ],
  [{ version: 'v'.repeat(500), revision: undefined }, {}, { version: 'v'.repeat(128), revision: '' }],
]) {
  test(`given ${JSON.stringify(given).slice(0, 50)} and ${Object.keys(environment)}, the release is ${JSON.stringify(expected).slice(0, 60)}`, () => {
    assert.deepEqual(releaseOf(given, environment), expected)
  })
}

test('spillway_build_info is 1 with the release as labels, and the start time is a metric too', async (t) => {
  const spillway = spillwayFor(t, { release: { version: '1.2.3"\\', revision: 'abc' } })
  const { get } = await serve(
    t,
    spillway.wrap((_req, res) => res.end())
  )
  const families = parse((await get('/metrics')).body)
  const { samples } = families.get('spillway_build_info')
  assert.deepEqual(
    samples.map(({ labels, value }) => ({ labels, value })),
    [{ labels: { version: '1.2.3"\\', revision: 'abc' }, value: 1 }]
  )
  const [{ value }] = families.get('spillway_start_time_seconds').samples
  assert.ok(value > 1.7e9 && value <= Date.now() / 1000)
})

function folder(t) {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-'))
  t.after(() => fs.rmSync(made, { recursive: true }))
  return made
}

const FIGURES = { p50Ms: 1, p95Ms: 2, p99Ms: 3, errorRatio: 0, shedRatio: 0 }
const figures = (count) => ({
  requests: { count, ...FIGURES, shedRatio: 0.25 },
  routes: [{ method: 'GET', route: '/a', count, ...FIGURES }],
})

/** One process of a release: `serve` says how many requests it has answered. */
function begin(t, file, version, clock) {
  const logged = []
  const internalErrors = new InternalErrors({ error: (fields) => logged.push(fields) })
  let count = 0
  const history = new ReleaseHistory({
    options: { version, revision: undefined, file },
    clock,
    internalErrors,
    warn: (_fields, message) => logged.push(message),
    takeFigures: () => figures(count),
  })
  t.after(() => history.close())
  return { history, logged, internalErrors, serve: (requests) => (count += requests) }
}

const countsIn = (file) =>
  JSON.parse(fs.readFileSync(file, 'utf8')).releases.map(({ version, requests }) => [version, requests.count])

test('a release finds the previous one, and a process of the same release continues it', (t) => {
  const file = path.join(folder(t), 'releases.json')
  const clock = new FakeClock()
  const first = begin(t, file, '1', clock)
  assert.equal(first.history.previous, undefined)
  first.serve(10)
  clock.advance(1000)
  first.history.close()
  const second = begin(t, file, '2', clock)
  assert.equal(second.history.previous.version, '1')
  assert.deepEqual(second.history.previous.requests, figures(10).requests)
  second.serve(5)
  second.history.close()
  clock.advance(1000)
  const again = begin(t, file, '2', clock)
  assert.equal(again.history.previous.version, '1')
  assert.equal(again.history.current.since, second.history.current.since)
  assert.deepEqual(fs.readdirSync(path.dirname(file)), ['releases.json'])
})

test('the process with the most requests represents its release, whichever writes last', (t) => {
  const file = path.join(folder(t), 'releases.json')
  const clock = new FakeClock()
  const workers = [3, 9, 4].map((count) => {
    const worker = begin(t, file, '1', clock)
    clock.advance(10)
    worker.serve(count)
    return worker
  })
  for (const { history } of workers) history.close()
  assert.deepEqual(countsIn(file), [['1', 9]])
})

test('a process without requests writes nothing', (t) => {
  const file = path.join(folder(t), 'releases.json')
  begin(t, file, '1', new FakeClock()).history.close()
  assert.equal(fs.existsSync(file), false)
})

test('in a rolling deploy the previous release is found, even if it writes after this one has begun', (t) => {
  const file = path.join(folder(t), 'releases.json')
  const clock = new FakeClock()
  const old = begin(t, file, '1', clock)
  clock.advance(1000)
  const young = begin(t, file, '2', clock)
  young.serve(1)
  young.history.onInterval(clock.now() + 60_000)
  old.serve(50)
  old.history.close()
  assert.equal(old.history.previous, undefined, 'not the one that came after')
  assert.deepEqual(countsIn(file), [
    ['1', 50],
    ['2', 1],
  ])
  young.history.onInterval(clock.now() + 700_000)
  assert.equal(young.history.previous.version, '1')
})

test('after a rollback a release is compared with the one that it replaces', (t) => {
  const file = path.join(folder(t), 'releases.json')
  const clock = new FakeClock()
  for (const [version, count] of [
    ['1', 100],
    ['2', 20],
    ['1', 3],
  ]) {
    const { history, serve } = begin(t, file, version, clock)
    clock.advance(1000)
    serve(count)
    history.close()
    if (count === 3) assert.equal(history.previous.version, '2')
  }
  assert.deepEqual(countsIn(file), [
    ['2', 20],
    ['1', 3],
  ])
})

test('a wall clock that was set back does not reverse the order', (t) => {
  const file = path.join(folder(t), 'releases.json')
  for (const [version, clock] of [
    ['1', new FakeClock()],
    ['2', Object.assign(new FakeClock(), { wallMs: () => 1000 })],
  ]) {
    const { history, serve } = begin(t, file, version, clock)
    serve(1)
    history.close()
    if (version === '2') assert.equal(history.previous.version, '1')
  }
})

test('it is written a minute after the start and then every ten minutes, without a timer', (t) => {
  const file = path.join(folder(t), 'releases.json')
  const clock = new FakeClock()
  const { history, serve } = begin(t, file, '1', clock)
  const turn = () => history.onInterval(clock.now())
  const after = (ms, requests) => {
    clock.advance(ms)
    serve(requests)
    turn()
    return fs.existsSync(file) ? countsIn(file)[0][1] : 0
  }
  assert.equal(after(59_999, 1), 0)
  assert.equal(after(1, 1), 2)
  assert.equal(after(599_999, 1), 2)
  assert.equal(after(1, 1), 4)
})

const release = (changes) => ({
  version: '0',
  revision: '',
  since: '2020-01-01T00:00:00.000Z',
  until: '2020-01-01T00:00:00.000Z',
  ...figures(1),
  ...changes,
})
const ours = (...releases) => JSON.stringify({ format: 'spillway.releases.1', releases })
const FOREIGN = {
  'a package.json': '{"name":"shop","version":"1.0.0"}',
  'half a file': ours(release()).slice(0, -20),
  binary: Buffer.from([0, 255, 254, 1]),
  'the JSON null': 'null',
  'the format of a later version': '{"format":"spillway.releases.2","releases":[]}',
  'too large a file': Buffer.alloc(300 * 1024, ' '),
  'too many releases': ours(release(), release(), release()),
  'too many routes': ours(release({ routes: new Array(51).fill(figures(1).routes[0]) })),
  'a number that is text': ours(release({ requests: { ...figures(1).requests, p99Ms: '<b>' } })),
  'a time that is none': ours(release({ since: 'yesterday' })),
  'a route too long': ours(release({ routes: [{ ...figures(1).routes[0], route: '/'.repeat(257) }] })),
  'releases that are null': ours(null),
}

for (const [what, content] of Object.entries(FOREIGN)) {
  test(`${what} in place of the file is reported once, left as it is, and does no harm`, (t) => {
    const file = path.join(folder(t), 'releases.json')
    fs.writeFileSync(file, content)
    const clock = new FakeClock()
    const { history, logged, internalErrors, serve } = begin(t, file, '1', clock)
    assert.equal(history.previous, undefined)
    serve(10)
    history.onInterval(clock.now() + 60_000)
    history.close()
    assert.equal(logged.length, 1)
    assert.match(
      logged[0].err.message,
      /is not a file that spillway has written \(.+\)\. Delete it, or use another path\.$/
    )
    assert.deepEqual(internalErrors.list(), [['release.file', 3]])
    assert.deepEqual(fs.readFileSync(file), Buffer.from(content))
  })
}

for (const [what, put] of Object.entries({
  'a folder': (file) => fs.mkdirSync(file),
  'a folder that does not exist': () => {},
})) {
  test(`${what} in its way is reported once and does no harm`, (t) => {
    const where = folder(t)
    const file = path.join(where, ...(what === 'a folder' ? ['it'] : ['none', 'it']))
    put(file)
    const { history, logged, serve } = begin(t, file, '1', new FakeClock())
    serve(1)
    history.close()
    assert.equal(logged.length, 1)
    assert.notEqual(logged[0].err.message, '')
  })
}

test('an empty file and the target of a link are written', (t) => {
  const where = folder(t)
  const [file, link] = [path.join(where, 'shared.json'), path.join(where, 'link.json')]
  fs.writeFileSync(file, '')
  fs.symlinkSync(file, link)
  const { history, logged, serve } = begin(t, link, '1', new FakeClock())
  serve(7)
  history.close()
  assert.deepEqual(logged, [])
  assert.ok(fs.lstatSync(link).isSymbolicLink())
  assert.deepEqual(countsIn(file), [['1', 7]])
})

test('a file without a version or revision is reported and not written', (t) => {
  const { npm_package_version, ...environment } = process.env
  const before = process.env
  process.env = Object.fromEntries(
    Object.entries(environment).filter(([name]) => !/SHA|COMMIT|VERSION/.test(name))
  )
  t.after(() => (process.env = before))
  const where = folder(t)
  const { history, logged } = begin(t, path.join(where, 'it'), undefined, new FakeClock())
  history.close()
  assert.deepEqual(fs.readdirSync(where), [])
  assert.match(logged[0], /needs release\.version or release\.revision/)
})

test('no exit listener remains after close(), and none is added without a file', (t) => {
  const before = process.listenerCount('exit')
  const spillway = spillwayFor(t, { release: { file: path.join(folder(t), 'it'), version: '1' } })
  spillwayFor(t)
  assert.equal(process.listenerCount('exit'), before + 1)
  spillway.close()
  assert.equal(process.listenerCount('exit'), before)
})

test('the 50 routes with the most requests are kept', async (t) => {
  const file = path.join(folder(t), 'releases.json')
  const spillway = spillwayFor(t, {
    release: { file, version: '1' },
    routes: { label: (req) => req.url },
  })
  const { get } = await serve(
    t,
    spillway.wrap((_req, res) => res.end())
  )
  const paths = Array.from({ length: 60 }, (_, i) => `/${i}`)
  for (const each of [...paths, '/59', '/58']) await get(each)
  await ended(spillway, 62)
  spillway.close()
  const [{ requests, routes }] = JSON.parse(fs.readFileSync(file, 'utf8')).releases
  assert.equal(requests.count, 62)
  assert.equal(routes.length, 50)
  assert.deepEqual(new Set(routes.slice(0, 2).map(({ route }) => route)), new Set(['/58', '/59']))
})

test('the shed ratio is the share of rejected requests among all', () => {
  const clock = new FakeClock()
  const recorder = new Recorder(resolveOptions(), clock, new InternalErrors({ error() {} }))
  for (let i = 0; i < 60; i++) recorder.all.record(10, clock.now(), i < 6)
  const admission = { stats: { rejected: 20 } }
  const { requests, routes } = takeFigures({ admission, recorder, clock }, 50)
  assert.deepEqual([requests.count, requests.errorRatio, requests.shedRatio, routes], [60, 0.1, 0.25, []])
})

test('a rejected request counts for the route its URL would have matched, in this release and in the previous one', async (t) => {
  const file = path.join(folder(t), 'releases.json')
  for (const version of ['1', '2']) {
    const spillway = spillwayFor(t, { release: { file, version }, shed: { mode: 'threshold' } })
    const app = express()
    app.get('/users/:id', (_req, res) => res.end())
    app.get('/orders', (_req, res) => res.end())
    const server = spillway.attach(http.createServer(app))
    const { get } = await serve(t, server)
    for (const each of ['/users/1', '/orders']) await get(each)
    await ended(spillway, 2)
    spillway.update({ shed: { shortage: () => 1 } })
    const routeOf = (name) => spillway.snapshot().routes.find(({ route }) => route === name)
    let served = 1
    for (let shed = 0; shed < 3; ) {
      if ((await get('/users/2?q=1')).status === 503) shed++
      else served++
    }
    await ended(spillway, 1 + served)
    // The client has its answer a moment before it is counted.
    while (routeOf('/users/:id').shed < 3) await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual([routeOf('/users/:id').shed, routeOf('/orders').shed], [3, 0])
    const { releases } = spillway.snapshot()
    if (version === '2') {
      const users = releases.routes.find(({ route }) => route === '/users/:id')
      assert.equal(users.current.shedRatio, 3 / (3 + served))
      assert.ok(users.previous.shedRatio > 0 && users.previous.shedRatio < 1)
      assert.equal(releases.routes.find(({ route }) => route === '/orders').previous.shedRatio, 0)
    }
    spillway.close()
  }
})
