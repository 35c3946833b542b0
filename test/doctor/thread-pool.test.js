'use strict'
// The rule about the thread pool, on both sides of each threshold.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const rule = require('../../src/features/doctor/problems/thread-pool')
const { figuresWith, routeWith } = require('./figures')

const LOGIN = { method: 'POST', route: '/login', meanMs: 1400 }
const FULL = { seconds: 60, fullShare: 0.9, waitMs: 1200 }
const figuresFor = ({ pool = {}, route = {}, ...others } = {}) =>
  figuresWith({ threadPool: { ...FULL, ...pool }, routes: [routeWith({ ...LOGIN, ...route })], ...others })
const severityWith = (changes) => rule.find(figuresFor(changes))[0]?.severity ?? 'none'

/** @param {[changes: any, severity: string][]} cases */
function check(cases) {
  for (const [changes, severity] of cases)
    assert.equal(severityWith(changes), severity, JSON.stringify(changes))
}

test('jobs wait for a fifth of the time at least, over ten seconds', () => {
  check([
    [{}, 'high'],
    [{ pool: { fullShare: 0.19 } }, 'none'],
    [{ pool: { fullShare: 0.2 } }, 'medium'],
    [{ pool: { fullShare: 0.49 } }, 'medium'],
    [{ pool: { fullShare: 0.5 } }, 'high'],
    [{ pool: { waitMs: 249 } }, 'medium'],
    [{ pool: { waitMs: 250 } }, 'high'],
    [{ pool: { seconds: 9.9 } }, 'none'],
    [{ pool: { seconds: 10 } }, 'high'],
  ])
})

test('the time in which other processes use the CPUs is discounted', () => {
  const starved = (waitMs) => ({
    pool: { waitMs },
    scheduler: { runShare: 0.3, waitShare: 0.3, foreignShare: 0.3 },
  })
  check([
    [starved(99), 'none'],
    [starved(100), 'medium'],
    [{ ...starved(50), scheduler: undefined }, 'medium'],
  ])
})

test('somebody has to feel it', () => {
  const parts = (waitMs) => ({ queueMs: 0, runMs: 1e5 - waitMs, loopBusyMs: 0, gcMs: 0, waitMs, bodyMs: 0 })
  const call = { host: 'api.example', method: 'POST', route: '/login', count: 600 }
  check([
    // Half of the 1080 ms that a request of any time waits for a job.
    [{ route: { meanMs: 539 } }, 'none'],
    [{ route: { meanMs: 540 } }, 'high'],
    [{ pool: { waitMs: 60 }, route: { meanMs: 49 } }, 'none'],
    [{ pool: { waitMs: 60 }, route: { meanMs: 50 } }, 'medium'],
    [{ route: { count: 9 } }, 'none'],
    [{ route: { count: 10 } }, 'high'],
    // The loop is busy for 30 % of the time.
    [{ route: { parts: parts(34_999) } }, 'none'],
    [{ route: { parts: parts(35_001) } }, 'high'],
    [{ outgoing: [{ ...call, totalMs: 419_000 }] }, 'high'],
    [{ outgoing: [{ ...call, totalMs: 420_000 }] }, 'none'],
    [{ route: { count: 1 }, oldest: { method: 'GET', route: '/avatar', ageMs: 6000 } }, 'high'],
  ])
})

test('the sentence has the wait, the threads and who waits', () => {
  const [{ summary, route, share }] = rule.find(figuresFor())
  assert.equal(
    summary,
    'Jobs of the thread pool (files, DNS, crypto, zlib) wait 1.2 s for one of its 4 threads: POST /login waits for these jobs.'
  )
  assert.deepEqual([route, share], ['POST /login', 0.9])
  const routes = ['/login', '/a', '/b', '/c'].map((each) => routeWith({ ...LOGIN, route: each }))
  const [many] = rule.find(figuresFor({ routes }))
  assert.match(
    many.advice,
    /^Find what fills the pool, in POST \/login, POST \/a, POST \/b or in work between/
  )
  assert.match(many.summary, /: POST \/login and 3 other routes wait for these jobs\.$/)
  assert.deepEqual(
    many.evidence.map(({ name }) => name).filter((name) => name.startsWith('mean')),
    ['mean duration of POST /login', 'mean duration of POST /a', 'mean duration of POST /b']
  )
  const [stuck] = rule.find(figuresFor({ routes: [], oldest: { method: 'GET', route: null, ageMs: 6000 } }))
  assert.match(stuck.summary, /: GET \(unmatched\) waits for these jobs\.$/)
  assert.ok(stuck.evidence.some(({ name, value }) => name.endsWith('no answer yet') && value === 6000))
})

test('the advice says how many threads, unless the CPUs are in use', () => {
  const adviceWith = (changes) => rule.find(figuresFor(changes))[0].advice
  assert.match(adviceWith({}), /Start the process with UV_THREADPOOL_SIZE=8 \(4 now\)/)
  assert.match(adviceWith({ cpu: { used: 4, limit: 15.5 } }), /UV_THREADPOOL_SIZE=16 \(4 now\)/)
  assert.match(adviceWith({ cpu: { used: 1.59, limit: 2 } }), /UV_THREADPOOL_SIZE=8/)
  for (const short of [
    { cpu: { used: 1.6, limit: 2 } },
    { scheduler: { runShare: 0.3, waitShare: 0.2, foreignShare: 0 } },
  ])
    assert.match(adviceWith(short), /A larger UV_THREADPOOL_SIZE \(4 now\).+the CPUs are in use/)
})
