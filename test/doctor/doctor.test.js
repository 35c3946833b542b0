'use strict'
// When the doctor looks, what it logs, and when it rests: by a clock that is moved by hand, with the figures
// of a process that is never busy.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { setImmediate: nextTurn } = require('node:timers/promises')
const { CallPlace } = require('../../src/core/call-place')
const { Doctor, LOOK_MS } = require('../../src/features/doctor/doctor')
const { takeReading } = require('../../src/features/doctor/reading')
const { Instance } = require('../../src/instance')
const { resolveOptions } = require('../../src/core/options/options')
const { COMPLETED, ERRORED } = require('../../src/core/request/outcome')
const { handClock } = require('../support/hand-clock')
const { parse } = require('../support/metrics-text')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const GET = 0
const IDLE = {
  loopActiveMs: 0,
  cpuMs: 0,
  gc: { ms: 0, majorMs: 0 },
  heapAfterBytes: undefined,
  scheduler: undefined,
  throttling: undefined,
}

function doctorFor(t, { isOn = true, read = takeReading, process = () => ({}) } = {}) {
  const clock = /** @type {any} */ (handClock())
  const instance = new Instance(
    resolveOptions({ logger: false, insight: { doctor: false } }),
    clock,
    new CallPlace(Instance)
  )
  t.after(() => instance.close())
  const lines = []
  const doctor = new Doctor({
    deps: /** @type {any} */ (instance),
    isOn,
    warn: (fields, message) => lines.push({ level: 'warn', ...fields, message }),
    info: (fields, message) => lines.push({ level: 'info', ...fields, message }),
    read: (deps, own) => ({ ...read(deps, own), ...IDLE, ...process() }),
  })
  instance.startedFeatures.doctor = doctor
  t.after(() => doctor.close())
  return {
    clock,
    doctor,
    instance,
    lines,
    armed: () => clock.armed(LOOK_MS),
    /** Requests that end in one loop turn. */
    end(count, outcome = COMPLETED, durationMs = 5) {
      const series = instance.recorder.routes.find('/orders', GET)
      const status = outcome === ERRORED ? 500 : 200
      for (let i = 0; i < count; i++) {
        const request = {
          outcome,
          status,
          durationMs,
          firstByteMs: durationMs,
          scheme: 0,
          requestBytes: 1,
          responseBytes: 1,
        }
        series.record(request, clock.now())
      }
      instance.recorder.requests.ended += count
      doctor.onEachTurn(1)
    },
  }
}

test('before any request it cannot tell, and has no timer', (t) => {
  const { armed, doctor } = doctorFor(t)
  doctor.onEachTurn(1)
  const { healthy, summary, findings, requests } = doctor.diagnose()
  assert.deepEqual({ healthy, findings, requests }, { healthy: null, findings: [], requests: 0 })
  assert.match(summary, /^Not enough traffic to tell/)
  assert.equal(armed(), 0)
})

test('it says that few requests are too few, and that a service is healthy', (t) => {
  const { clock, doctor, end } = doctorFor(t)
  // The turn of the first request wakes the doctor: what came before is not counted.
  end(1)
  end(19)
  clock.pass(6000)
  assert.deepEqual([doctor.diagnose().healthy, doctor.diagnose().requests], [null, 19])
  end(1)
  clock.pass(1000)
  const { healthy, requests, summary } = doctor.diagnose()
  assert.deepEqual([healthy, requests], [true, 20])
  assert.match(summary, /^Healthy: no problem found in 20 requests/)
})

test('it counts long loop turns between its looks', (t) => {
  let own
  const read = (deps, given) => {
    own = given
    return takeReading(deps, given)
  }
  const { doctor, end } = doctorFor(t, { read })
  end(1)
  doctor.onEachTurn(60)
  assert.deepEqual(own.longTurns.sample().veryLong, { count: 1, ms: 60, requests: 0 })
})

test('it compares what a request costs the loop with the least of any ten seconds', (t) => {
  let loopActiveMs = 0
  const { clock, doctor, end, instance } = doctorFor(t, { process: () => ({ loopActiveMs }) })
  const listeners = { name: 'MaxListenersExceededWarning', message: '11 data listeners', at: 'app.js:7' }
  const list = () => ({ counts: { [listeners.name]: 1 }, recent: [listeners] })
  instance.warnings.list = /** @type {any} */ (list)
  const look = (requests, ms) => {
    end(requests)
    loopActiveMs += ms
    clock.pass(LOOK_MS)
    return doctor.diagnose().findings.find(({ problem }) => problem === 'listener-leak')?.summary
  }
  end(1)
  assert.match(String(look(1000, 2000)), /^Listeners are added/)
  // Fewer than 50 requests say nothing.
  assert.match(String(look(49, 9000)), /^Listeners are added/)
  assert.match(String(look(1000, 3900)), /^Listeners are added/)
  assert.match(
    String(look(1000, 7000)),
    /^Listeners are added .* A request now takes 7 ms of the event loop, and took 2 ms before\./
  )
})

test('it measures the thread pool once requests come', async (t) => {
  let own
  const read = (deps, given) => {
    own = given
    return takeReading(deps, given)
  }
  const { clock, doctor, end } = doctorFor(t, { read })
  end(1)
  const observedMs = () => own.threadPool.sample().observedMs
  assert.equal(observedMs(), 0)
  end(1)
  doctor.onEachTurn(1, clock.now())
  while (observedMs() === 0) await nextTurn()
})

test('a diagnosis is made at most once a second', (t) => {
  const { clock, doctor, end } = doctorFor(t)
  end(30)
  clock.pass(5000)
  const first = doctor.diagnose()
  clock.pass(900)
  assert.equal(doctor.diagnose(), first)
  clock.pass(100)
  assert.notEqual(doctor.diagnose(), first)
})

test('a finding of high severity is logged when it begins and when it has ended, and shown as a metric', async (t) => {
  const { clock, end, instance, lines } = doctorFor(t)
  const { get } = await serve(t, instance.handlers.metrics)
  end(30)
  end(30, ERRORED)
  clock.pass(LOOK_MS)
  const [begun] = lines
  assert.deepEqual(
    [begun.level, begun.event, begun.problem, begun.severity, begun.route],
    ['warn', 'finding', 'errors', 'high', 'GET /orders']
  )
  assert.match(begun.message, /^spillway: GET \/orders has begun to fail: 100 % of its requests, 0 % before/)
  const family = parse((await get('/')).body).get('spillway_findings')
  assert.deepEqual(family?.samples, [
    { name: 'spillway_findings', labels: { problem: 'errors', severity: 'high' }, value: 1 },
  ])

  // The minute of the failures goes by, and three looks without them.
  const looks = []
  for (let look = 1; look <= 10; look++) {
    end(300)
    clock.pass(LOOK_MS)
    looks.push(lines.length)
  }
  const [, over] = lines
  assert.deepEqual([over.level, over.event, over.problem], ['info', 'findingEnded', 'errors'])
  assert.match(over.message, /^spillway: errors has ended after \d+ s$/)
  assert.equal(lines.length, 2)
  assert.ok(looks.indexOf(2) >= 2, 'not before the third look')
})

test('a finding that comes and goes within three looks is one finding', (t) => {
  const { clock, end, lines } = doctorFor(t)
  end(1)
  for (let minute = 0; minute < 3; minute++) {
    end(30, ERRORED)
    clock.pass(LOOK_MS)
    // The failures leave the minute, for two looks.
    for (let look = 0; look < 7; look++) {
      end(30)
      clock.pass(LOOK_MS)
    }
  }
  assert.deepEqual(
    lines.map(({ event }) => event),
    ['finding']
  )
})

test('it rests a minute after the last request, and wakes with the next', (t) => {
  const { armed, clock, doctor, end, lines } = doctorFor(t)
  end(30)
  end(30, ERRORED)
  clock.pass(5 * LOOK_MS)
  assert.equal(armed(), 1)
  clock.pass(4 * LOOK_MS)
  assert.equal(armed(), 0)
  assert.deepEqual(
    lines.map(({ event }) => event),
    ['finding', 'findingEnded']
  )
  assert.match(doctor.diagnose().summary, /no request in the last minute/)
  doctor.onEachTurn(1)
  assert.equal(armed(), 0)
  end(1)
  assert.equal(armed(), 1)
})

test('a reading that fails is reported, and the next look goes on', (t) => {
  let isBroken = true
  const read = (deps, own) => {
    if (isBroken) throw new Error('no reading')
    return takeReading(deps, own)
  }
  const { clock, doctor, end, instance } = doctorFor(t, { read })
  end(30)
  clock.pass(LOOK_MS)
  isBroken = false
  end(30)
  clock.pass(LOOK_MS)
  end(30)
  clock.pass(LOOK_MS)
  assert.ok(instance.internalErrors.list().some(([place, count]) => place === 'doctor' && count >= 1))
  assert.match(doctor.diagnose().summary, /^Healthy/)
})

test('close() takes the timer away', (t) => {
  const { armed, doctor, end } = doctorFor(t)
  end(1)
  assert.equal(armed(), 1)
  doctor.close()
  assert.equal(armed(), 0)
  end(1)
  assert.equal(armed(), 0)
  assert.match(doctor.diagnose().summary, /^The doctor is off/)
})

test('a doctor that is off has no timer and no finding', (t) => {
  const { armed, clock, doctor, end, lines } = doctorFor(t, { isOn: false })
  end(30, ERRORED)
  assert.equal(armed(), 0)
  clock.pass(LOOK_MS)
  assert.deepEqual(lines, [])
  assert.equal(doctor.diagnose().healthy, null)
})

for (const [insight, summary] of [
  [undefined, /^Not enough traffic/],
  [false, /^The doctor is off/],
  [{ doctor: false }, /^The doctor is off/],
]) {
  test(`a server with insight: ${JSON.stringify(insight)}`, async (t) => {
    const spillway = spillwayFor(t, { insight })
    const { get } = await serve(
      t,
      spillway.wrap((_req, res) => res.end())
    )
    await get('/')
    await ended(spillway, 1)
    assert.match(spillway.diagnose().summary, /** @type {RegExp} */ (summary))
  })
}

for (const [what, callMs, calls, expected, waitMs = 0] of /** @type {const} */ ([
  ['makes more calls', 20, 100, ['many-calls']],
  [
    'makes calls that take longer, and waited for a socket before',
    20,
    100,
    ['slow-dependency', 'many-calls'],
    6,
  ],
  ['makes calls that take longer', 100, 20, ['slow-dependency', 'many-calls']],
])) {
  test(`a route that becomes slower because it ${what} is told by what a call usually takes`, (t) => {
    const { clock, doctor, end, instance } = doctorFor(t)
    const sums = {
      host: 'db',
      method: 'GET',
      route: '/orders',
      count: 0,
      totalMs: 0,
      awaited: 0,
      awaitedMs: 0,
      parts: { waitMs: 0, connections: 0, lookupMs: 0, connectMs: 0, firstByteMs: 0 },
    }
    const row = {}
    Object.assign(instance.startedFeatures, {
      outgoing: { totals: () => new Map([[row, { ...sums, parts: { ...sums.parts } }]]) },
    })
    const serveFor = (seconds, ms, perRequest, ofWhichMs = 0) => {
      for (let i = 0; i < seconds; i += LOOK_MS / 1000) {
        sums.awaited = sums.count += 30 * perRequest
        sums.awaitedMs = sums.totalMs += 30 * perRequest * ms
        sums.parts.waitMs += 30 * perRequest * ofWhichMs
        end(30, COMPLETED, perRequest * ms)
        clock.pass(LOOK_MS)
      }
    }
    serveFor(120, 9, 20, waitMs)
    assert.deepEqual(doctor.diagnose().findings, [])
    serveFor(80, callMs, calls)
    assert.deepEqual(
      doctor.diagnose().findings.map(({ problem }) => problem),
      expected
    )
  })
}

test('a route that waits because its calls begin to fail at once is told by the usual share of failed calls', (t) => {
  const { clock, doctor, end, instance } = doctorFor(t)
  const route = { host: 'pricing', method: 'GET', route: '/orders' }
  const sums = { ...route, count: 0, errors: 0, totalMs: 0, awaited: 0, awaitedMs: 0, failedStatus: 503 }
  const row = {}
  Object.assign(instance.startedFeatures, { outgoing: { totals: () => new Map([[row, { ...sums }]]) } })
  const serveFor = (seconds, ms, failed) => {
    for (let i = 0; i < seconds; i += LOOK_MS / 1000) {
      sums.count += 60
      sums.totalMs += 60 * 9
      sums.errors += failed
      end(30, COMPLETED, ms)
      clock.pass(LOOK_MS)
    }
  }
  serveFor(120, 20, 1)
  assert.deepEqual(doctor.diagnose().findings, [])
  serveFor(80, 200, 24)
  const [{ problem, summary }] = doctor.diagnose().findings
  assert.equal(problem, 'slow-dependency')
  assert.match(
    summary,
    / 40 % of its calls to pricing fail, the last with 503\. Usually [12](\.\d)? % fail\. A call takes 9 ms/
  )
})
