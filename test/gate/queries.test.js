'use strict'
// A scrape changes nothing: a world that is asked for its figures all the time decides as one that never is.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { stack } = require('../simulation/stack')
const { World } = require('../simulation/world')

const SCRAPES = 10_000
/** An overloaded loop does not come to read all of them in time. */
const ARRIVALS = 20_000
const SECONDS = 5

/** Calm, overloaded and calm again, with a stall, a pool, several classes and keys. */
const SPEC = {
  seed: 5,
  seconds: SECONDS,
  pools: { pool: 10 },
  routes: [
    { steps: [{ wait: 2 }, { burn: 0.5 }, { wait: 5, pool: 'pool' }, { burn: 1 }] },
    { steps: [{ burn: 2 }] },
  ],
  open: [
    { route: 0, perSecond: 200, key: 'a' },
    { route: 1, perSecond: 100, key: 'b', priority: 'high' },
    { route: 1, perSecond: 1500, fromMs: 1000, toMs: 3000, key: 'c', priority: 'low' },
    { route: 0, perSecond: 1500, fromMs: 1500, toMs: 3500, key: 'd' },
  ],
  closed: [{ route: 1, clients: 2, thinkMs: 30, key: 'e', retry: 'at-once' }],
  disturbances: [{ kind: 'stall', atMs: 4000, ms: 300 }],
}

/** What became of each request, and the admission's own figures at last. */
function run(shed, isScraped) {
  const world = new World(structuredClone(SPEC), { stack, shed })
  const { admission, loop } = world
  let asked = 0
  for (let i = 0; i < ARRIVALS; i++) {
    // The same arrivals without the question, so that the loop turns as often.
    loop.arrive((i / ARRIVALS) * SECONDS * 1000, () => {
      if (!isScraped) return
      asked++
      admission.sample()
    })
  }
  world.run()
  const requests = world.requests.map(({ atMs, ranMs, shedMs, servedMs, endedMs, request }) => [
    ...[atMs, ranMs, shedMs, servedMs, endedMs],
    request.ticket.rejection?.reason,
    request.ticket.waitedMs,
  ])
  const { queueDelays, ...figures } = admission.sample()
  return { asked, decided: { requests, figures, queueDelays: [...queueDelays] } }
}

for (const [what, shed] of Object.entries({
  'mode adaptive': {},
  'mode adaptive, with keys, a deadline, shortage and maxConcurrent': {
    key: (req) => req.key,
    shortage: () => 0.1,
    deadlineMs: () => 150,
    maxConcurrent: 100,
  },
  'mode threshold': { mode: 'threshold', maxConcurrent: 50, maxEventLoopDelay: 30, sampleInterval: 100 },
  'mode observe': { mode: 'observe' },
})) {
  test(`ten thousand scrapes in ${SECONDS} seconds change no decision: ${what}`, () => {
    const scraped = run(shed, true)
    const { decided } = run(shed, false)
    assert.ok(scraped.asked >= SCRAPES, String(scraped.asked))
    assert.ok(decided.figures.shed.length + decided.figures.wouldShed.length > 0, 'some are shed')
    assert.deepEqual(scraped.decided, decided)
  })
}
