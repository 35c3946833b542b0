'use strict'
// Start-time fair queueing by key: by tags alone, and before a real gate in simulated time.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { FairShares } = require('../../src/core/gate/queue')
const { stack } = require('../simulation/stack')
const { World } = require('../simulation/world')

/** Queues a request of that key. @returns {number} its tag */
function queued(shares, key) {
  const tag = shares.tagOf(key)
  shares.onQueue(key, tag)
  return tag
}

const newShares = () => new FairShares()

test('each tag of a key is one more than the last tag of that key, and independent of other keys', () => {
  const shares = newShares()
  assert.deepEqual(
    ['a', 'a', 'a', 'b', 'b', 'a'].map((key) => queued(shares, key)),
    [1, 2, 3, 1, 2, 4]
  )
})

test('no tag is less than the tag dequeued last: a key that was idle has saved nothing', () => {
  const shares = newShares()
  for (let i = 0; i < 50; i++) shares.onDequeue('busy', queued(shares, 'busy'))
  assert.equal(queued(shares, 'away'), 50)
  shares.onQueue('late', 3)
  shares.onDequeue('late', 3)
  assert.equal(queued(shares, 'another'), 50)
})

test('a request that is not queued costs its key no share', () => {
  const shares = newShares()
  for (let i = 0; i < 10; i++) shares.tagOf('a')
  assert.equal(queued(shares, 'a'), 1)
})

test('a request that leaves the queue unserved gives its key the tag back, but none below the tag dequeued last', () => {
  const shares = newShares()
  queued(shares, 'a')
  queued(shares, 'a')
  shares.onRemove('a')
  assert.equal(shares.tagOf('a'), 2)
  shares.onQueue('a', 2)
  shares.onDequeue('a', 2)
  shares.onRemove('a')
  assert.equal(shares.tagOf('a'), 3)
})

test('a tag is over 0, the empty key included', () => {
  assert.ok(newShares().tagOf('') > 0)
})

test('a key with requests in the queue keeps its tag, however many others come', () => {
  const shares = newShares()
  for (let i = 0; i < 3; i++) queued(shares, 'a')
  for (let i = 0; i < 10_000; i++) shares.onDequeue(`client ${i}`, queued(shares, `client ${i}`))
  assert.equal(shares.tagOf('a'), 4)
})

test('keys that come once are forgotten', () => {
  const shares = newShares()
  shares.onQueue('far ahead', 100)
  shares.onRemove('far ahead')
  for (let i = 0; i < 10; i++) queued(shares, `client ${i}`)
  assert.equal(shares.tagOf('far ahead'), 1)
})

/**
 * Served a second, by key: ten light keys of 100 a second each, and a hog, before a handler that burns 2 ms.
 */
function servedByKey(hogPerSecond, shed) {
  const seconds = 8
  const open = Array.from({ length: 10 }, (_, i) => ({ route: 0, perSecond: 100, key: `light ${i}` }))
  open.push({ route: 0, perSecond: hogPerSecond, key: 'hog' })
  const spec = { seed: 1, seconds: seconds + 1, routes: [{ steps: [{ burn: 2 }] }], open }
  const { requests } = new World(spec, { stack, shed }).run()
  const counts = new Map(open.map(({ key }) => [key, 0]))
  for (const { key, atMs, servedMs } of requests) {
    if (atMs >= 2000 && servedMs !== undefined) counts.set(key, Number(counts.get(key)) + 1)
  }
  return [...counts.values()].map((count) => count / (seconds - 1))
}

const key = (req) => req.key
const keyed = servedByKey(5000, { key })
const keyedShare = keyed.reduce((sum, each) => sum + each) / keyed.length

test('beside a hog each light key gets its equal share, and without the option it does not', () => {
  const light = keyed.slice(0, 10)
  assert.ok(Math.min(...light) >= 0.85 * keyedShare, `${Math.min(...light)} of ${keyedShare}`)
  const unkeyed = servedByKey(5000, {})
  const unkeyedShare = unkeyed.reduce((sum, each) => sum + each) / unkeyed.length
  assert.ok(Math.max(...unkeyed.slice(0, 10)) < 0.5 * unkeyedShare)
})

/** The requests that came after the first two seconds, by key, before a handler that burns 2 ms. */
function requestsByKey(perSecond, seconds) {
  const open = Object.entries(perSecond).map(([name, each]) => ({ route: 0, perSecond: each, key: name }))
  const spec = { seed: 1, seconds, routes: [{ steps: [{ burn: 2 }] }], open }
  const { requests } = new World(spec, { stack, shed: { key } }).run()
  const of = (name) => requests.filter((each) => each.key === name && each.atMs >= 2000 && each.atMs < 5000)
  const served = (name) => of(name).filter(({ servedMs }) => servedMs !== undefined).length
  return { came: (name) => of(name).length, served }
}

test('a hog gets the share that light keys do not need', () => {
  const { came, served } = requestsByKey({ light: 20, hog: 5000 }, 6)
  assert.ok(served('light') >= 0.97 * came('light'), `${served('light')} of ${came('light')}`)
  assert.ok(served('hog') >= 3 * 300, String(served('hog')))
})

test('of two keys over their share, one that asks for seven times as much gets as much as the other', () => {
  const { served } = requestsByKey({ heavy: 300, heavier: 2000 }, 8)
  const counts = [served('heavy'), served('heavier')]
  assert.ok(Math.min(...counts) >= 0.95 * Math.max(...counts), counts.join(' : '))
})
