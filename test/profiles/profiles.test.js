'use strict'
// When a profile is refused, and for how long the last is kept: with a clock moved by hand.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const zlib = require('node:zlib')
const { CallFrames, placeKey } = require('../../src/features/profiles/call-frames')
const { KeptProfile } = require('../../src/features/profiles/kept-profile')
const { ProfilerSession } = require('../../src/features/profiles/profiler-session')
const { sourcesOf } = require('../../src/features/profiles/profile-work')
const { Profiles } = require('../../src/features/profiles/profiles')
const { snapshotRefusalOf } = require('../../src/features/profiles/refusal')

const MB = 1e6
const AMPLE = {
  heapUsedBytes: 40 * MB,
  heapLimitBytes: 100 * MB,
  rssBytes: 100 * MB,
  rssLimitBytes: 1000 * MB,
}

function manualClock() {
  /** @type {Set<{ callback: () => void, delayMs: number }>} */
  const timers = new Set()
  return {
    timers,
    now: () => 0,
    wallMs: () => 0,
    isFrozen: false,
    after: (delayMs, callback) => {
      const timer = { callback, delayMs }
      timers.add(timer)
      return timer
    },
    cancel: (timer) => timers.delete(timer),
    afterTurn: (callback) => setImmediate(callback),
  }
}

function setUp({ memory = AMPLE, mayBeFull = false, clock = manualClock() } = {}) {
  const pauses = []
  const profiles = new Profiles({
    clock: /** @type {any} */ (clock),
    mayBeFull: () => mayBeFull,
    onPause: (ms) => pauses.push(ms),
    sampleMemory: () => memory,
  })
  return { clock, pauses, profiles }
}

test('with memory and without an overload nothing is refused', () => {
  assert.equal(setUp().profiles.refusal, undefined)
})

for (const [what, given, text] of /** @type {[string, object, RegExp][]} */ ([
  ['in an overload', { mayBeFull: true }, /^The process is overloaded/],
  [
    'with a full heap',
    { memory: { ...AMPLE, heapUsedBytes: 86 * MB } },
    /^Memory is short: the heap uses 86 % of 100 MB/,
  ],
  ['in a full container', { memory: { ...AMPLE, rssBytes: 960 * MB } }, /the process 96 % of 1 GB/],
  ['in frozen time', { clock: { ...manualClock(), isFrozen: true } }, /^No profile can be taken/],
])) {
  test(`${what} it is refused`, () => {
    const { refusal } = setUp(given).profiles
    assert.equal(refusal?.status, 503)
    assert.match(refusal?.text ?? '', text)
  })
}

test('a closed instance takes none', () => {
  const { profiles } = setUp()
  profiles.close()
  assert.equal(profiles.refusal?.status, 503)
})

test('a snapshot is refused above half of the heap', () => {
  assert.equal(snapshotRefusalOf({ ...AMPLE, heapUsedBytes: 50 * MB }), undefined)
  assert.equal(snapshotRefusalOf({ ...AMPLE, heapUsedBytes: 51 * MB })?.status, 503)
})

for (const kind of /** @type {const} */ (['cpu', 'heap'])) {
  test(`${kind}: one at a time in this thread; an abort ends it and leaves no session and no timer`, async () => {
    const { clock, pauses, profiles } = setUp()
    const other = setUp().profiles
    const client = new AbortController()
    const listenersBefore = process.listenerCount('exit')
    const started = new Promise((resolve) => {
      profiles
        .take(kind, { durationMs: 5000, signal: client.signal, onStart: resolve })
        .then((result) => assert.equal(result, undefined))
    })
    assert.equal(other.refusal?.status, 409)
    await started
    assert.ok(pauses.length > 0)
    // A heap is read at half of the time too.
    assert.deepEqual(
      [...clock.timers].map(({ delayMs }) => delayMs),
      [kind === 'heap' ? 2500 : 5000]
    )
    client.abort()
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual([ProfilerSession.isOpen, clock.timers.size], [false, 0])
    assert.equal(process.listenerCount('exit'), listenersBefore)
    assert.equal(other.refusal, undefined)
  })
}

test('the next one may begin while the result of the last is made, and is not ended with it', async (t) => {
  // The worker thread keeps no process alive.
  const alive = setInterval(() => {}, 60_000)
  t.after(() => clearInterval(alive))
  const { clock, profiles } = setUp()
  const take = () => {
    const client = new AbortController()
    let result
    const started = new Promise((resolve) => {
      result = profiles.take('cpu', { durationMs: 5000, signal: client.signal, onStart: resolve })
    })
    return { client, started, result }
  }
  const first = take()
  await first.started
  for (const { callback } of clock.timers) callback()
  while (ProfilerSession.isOpen) await new Promise((resolve) => setImmediate(resolve))
  const second = take()
  assert.equal(JSON.parse(String(await first.result)).durationMs, 0)
  assert.equal(ProfilerSession.isOpen, true)
  second.client.abort()
  assert.equal(await second.result, undefined)
  assert.equal(ProfilerSession.isOpen, false)
})

test('a client that disconnects before the start has ended gets none', async () => {
  const { profiles } = setUp()
  const client = new AbortController()
  const taking = profiles.take('cpu', {
    durationMs: 5000,
    signal: client.signal,
    onStart: () => assert.fail('it has started'),
  })
  client.abort()
  assert.equal(await taking, undefined)
  assert.equal(ProfilerSession.isOpen, false)
})

test('pprof is made once for all who ask, and again after a failure', async () => {
  const makings = /** @type {PromiseWithResolvers<any>[]} */ ([])
  const kept = new KeptProfile({
    clock: /** @type {any} */ (manualClock()),
    work: () =>
      new Promise((resolve, reject) => {
        makings.push(/** @type {any} */ ({ resolve, reject }))
      }),
  })
  const when = { atMs: 1, durationMs: 1 }
  kept.keep({ kind: 'cpu', zipped: zlib.gzipSync('""'), when, sources: new Map() })
  const failed = [kept.pprof(), kept.pprof()]
  assert.equal(makings.length, 1)
  makings[0].reject(new Error('no thread'))
  for (const each of failed) await assert.rejects(each, /no thread/)
  const asked = [kept.pprof(), kept.pprof()]
  assert.equal(makings.length, 2)
  makings[1].resolve({ pprof: new Uint8Array([5]) })
  for (const each of asked) assert.deepEqual([.../** @type {Buffer} */ (await each)], [5])
  await kept.pprof()
  assert.equal(makings.length, 2)
})

test('the last profile is kept for five minutes, and a newer one for five more', async () => {
  const clock = manualClock()
  const kept = new KeptProfile({
    clock: /** @type {any} */ (clock),
    work: async ({ when }) => ({ pprof: new Uint8Array([when.atMs]) }),
  })
  assert.deepEqual(
    [kept.atMs, kept.zipped, await kept.json(), await kept.pprof()],
    [undefined, undefined, undefined, undefined]
  )
  const keep = (text, atMs) =>
    kept.keep({
      kind: 'cpu',
      zipped: zlib.gzipSync(text),
      when: { atMs, durationMs: 1 },
      sources: new Map(),
    })
  keep('"older"', 7)
  keep('"newer"', 8)
  assert.equal(String(await kept.json()), '"newer"')
  assert.equal(String(zlib.gunzipSync(/** @type {Buffer} */ (kept.zipped))), '"newer"')
  assert.deepEqual([.../** @type {Buffer} */ (await kept.pprof())], [8])
  assert.equal(kept.atMs, 8)
  const [timer, ...others] = clock.timers
  assert.deepEqual([timer.delayMs, others.length], [300_000, 0])
  timer.callback()
  assert.equal(kept.zipped, undefined)
})

test('places are those of the source where there is a source map', () => {
  const callFrame = {
    functionName: 'typed',
    scriptId: '9',
    url: 'file:///app/dist/a.js',
    lineNumber: 3,
    columnNumber: 1,
  }
  const at = (path) => new CallFrames(new Map([[placeKey(callFrame), { path, line: 12 }]])).of(callFrame)
  const { name, file, line } = at('/app/src/a.ts')
  assert.deepEqual([name, file, line], ['typed', '/app/src/a.ts', 12])
  // A bundle has the code of packages too.
  assert.equal(at('/app/src/a.ts').package, null)
  assert.equal(at('/app/node_modules/express/lib/a.js').package, 'express')
  assert.equal(at('/app/node_modules/spillway/src/core/http/express.js').package, 'spillway')
  assert.equal(at('/app/node_modules/spillway/src/features/profiles/profiles.js').name, '(profiler)')
  assert.equal(sourcesOf({ nodes: [{ callFrame }] }).size, 0)
})
