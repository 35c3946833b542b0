'use strict'
// What the pages of profiles answer when a profile cannot be made, and what they say before one is taken. The
// profiler is a stand-in.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { profilePages } = require('../../src/features/admin/profile-pages')
const { systemClock } = require('../../src/core/clock')
const { PauseRest } = require('../../src/features/profiles/pause-rest')
const { FakeClock } = require('../support/fake-clock')
const { serve } = require('../support/serve')

const KEPT = { atMs: undefined, json: async () => undefined, pprof: async () => undefined }

/** @param {import('node:test').TestContext} t */
async function setUp(t, profiles) {
  const reports = /** @type {string[]} */ ([])
  const pages = profilePages({
    profiles: /** @type {any} */ ({
      kept: { cpu: KEPT, heap: KEPT },
      lastStartPauseMs: { cpu: null, heap: 3 },
      expectedPauseMs: () => 90,
      rest: new PauseRest(systemClock),
      ...profiles,
    }),
    clock: systemClock,
    internalErrors: /** @type {any} */ ({ report: (place) => reports.push(place) }),
  })
  const client = await serve(t, (req, res) => pages[(req.url ?? '').split('?')[0]](req, res))
  return { ...client, reports }
}

const LINES = { accept: 'application/x-ndjson' }

test('GET says what a profile costs, and why none can be taken', async (t) => {
  const { get } = await setUp(t, { refusal: { status: 503, text: 'Memory is short.' } })
  const { costs, ...rest } = JSON.parse((await get('/profile')).body)
  assert.match(costs, /^The start blocks the event loop/)
  assert.deepEqual(rest, {
    seconds: { least: 1, most: 60, usual: 10 },
    expectedPauseMs: 90,
    lastStartPauseMs: null,
    lastAt: null,
    refusal: 'Memory is short.',
  })
  assert.equal(JSON.parse((await get('/heap')).body).lastStartPauseMs, 3)
})

test('a profiler that does not start is a 503', async (t) => {
  const { request } = await setUp(t, {
    take() {
      throw new Error('access was denied.')
    },
  })
  const { status, body } = await request({ method: 'POST', path: '/profile?seconds=1' })
  assert.deepEqual([status, body], [503, 'The profiler does not start: access was denied.\n'])
})

test('a profile is refused while the loop rests from a pause on demand', async (t) => {
  const clock = new FakeClock()
  const rest = new PauseRest(clock)
  let taken = 0
  const { request } = await setUp(t, {
    rest,
    take() {
      taken++
      rest.pausing(() => clock.advance(100))
      throw new Error('it ended early')
    },
  })
  const post = (path) => request({ method: 'POST', path })
  assert.equal((await post('/profile')).status, 503)
  for (const path of ['/profile', '/heap']) {
    const { status, headers, body } = await post(path)
    assert.deepEqual([status, headers['retry-after']], [429, '2'])
    assert.match(
      body,
      /^The event loop was just paused for a profile, snapshot or report\. The next pause may begin after 19 times the length of this one\. Ask again in 2 s\.\n$/
    )
  }
  assert.equal(taken, 1)
})

test('a profile that cannot be made is an error in the form of the answer', async (t) => {
  const { request, reports } = await setUp(t, {
    async take(_kind, { onStart }) {
      onStart(7)
      throw new Error('no worker')
    },
  })
  const plain = await request({ method: 'POST', path: '/heap' })
  assert.deepEqual([plain.status, plain.body], [500, 'The profile could not be made: no worker\n'])
  const { status, body } = await request({ method: 'POST', path: '/heap', headers: LINES })
  assert.equal(status, 200)
  const [progress, error] = body
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const { elapsedMs } = progress.progress
  assert.deepEqual(progress, { progress: { elapsedMs, totalMs: 60_000, startPauseMs: 7 } })
  assert.deepEqual(error, { error: 'The profile could not be made: no worker' })
  assert.deepEqual(reports, ['profile', 'profile'])
})

test('without a profile there is nothing to download', async (t) => {
  const { get } = await setUp(t, {})
  for (const path of [
    '/profile/last.cpuprofile',
    '/profile/last.pb.gz',
    '/heap/last.heapprofile',
    '/heap/last.pb.gz',
  ])
    assert.equal((await get(path)).status, 404)
})

test('keepOptimized=yes, and nothing else, keeps optimized code', async (t) => {
  const asked = /** @type {boolean[]} */ ([])
  const { request } = await setUp(t, {
    async take(_kind, { keepsOptimized }) {
      asked.push(keepsOptimized)
      throw new Error('no worker')
    },
  })
  for (const query of ['', '?keepOptimized=no', '?seconds=1&keepOptimized=yes'])
    await request({ method: 'POST', path: `/profile${query}` })
  assert.deepEqual(asked, [false, false, true])
})
