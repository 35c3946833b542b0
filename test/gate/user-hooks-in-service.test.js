'use strict'
// The words a user may put in: classes, shortage, deadlines, headers, the whole answer, and errors instead of
// it. What throws there is logged once and never changes what a client gets.

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const http = require('node:http')
const { describe, it, test } = require('node:test')
const { PRIORITIES, REJECTED, RUN } = require('../../src/core/gate/decision')
const { OverloadError } = require('../../src/index.js')
const { DrivenAdmission } = require('./driven-admission')
const { REFUSE, attached, holdingServer } = require('./holding-server')

const fail = () => {
  throw new Error('a mistake of the user')
}

/** With one in flight, so that the next is refused. */
function refusing(shed) {
  const driven = new DrivenAdmission({ mode: 'threshold', maxConcurrent: 1, ...shed })
  driven.ask()
  return driven
}

test('classify may close the spillway: then no request stays queued', () => {
  const asked = () => {
    driven.admission.close()
    return 'normal'
  }
  const driven = new DrivenAdmission({ maxConcurrent: 1 })
  driven.ask()
  driven.update({ maxConcurrent: 1, classify: asked })
  assert.equal(driven.ask().decision, RUN)
  assert.equal(driven.admission.sample().queued, 0)
})

describe('classify', () => {
  for (const name of PRIORITIES.slice(0, 4)) {
    it(`counts what is rejected of the class '${name}' as such`, () => {
      const driven = refusing({ classify: () => name })
      driven.ask()
      assert.deepEqual(driven.admission.sample().shed, [{ reason: 'concurrency', priority: name, count: 1 }])
    })
  }

  it("never rejects nor counts 'bypass'", () => {
    const driven = refusing({ classify: ({ url }) => (url === '/probe' ? 'bypass' : 'normal') })
    assert.equal(driven.ask({ url: '/probe' }).decision, RUN)
    assert.equal(driven.ask({ url: '/' }).decision, REJECTED)
    assert.equal(driven.admission.sample().inFlight, 1)
  })

  for (const [title, classify] of [
    ['throws', fail],
    ['gives a word that is no class', () => 'urgent'],
    ['gives nothing', () => undefined],
    ['gives a number', () => 0],
    ['gives the name of something every object has', () => 'constructor'],
    ['gives what cannot be made text', () => Object.create(null)],
    ['gives a symbol', () => Symbol('critical')],
  ]) {
    it(`counts a request as normal and logs the error once when it ${title}`, () => {
      const driven = refusing({ classify })
      driven.ask()
      driven.ask()
      assert.deepEqual(driven.admission.sample().shed, [
        { reason: 'concurrency', priority: 'normal', count: 2 },
      ])
      assert.deepEqual(driven.logged, ['shed.classify'])
    })
  }

  it('is called once a request', () => {
    let asked = 0
    const driven = new DrivenAdmission({ classify: () => `${asked++}` })
    const request = driven.ask()
    driven.admission.decide(request, driven.clock.now())
    assert.equal(asked, 1)
  })
})

describe('shortage', () => {
  /** What gets in, of 200 of a class; the minimum of one in 100 ms is spent first. */
  const admittedOf = (priority, shortage) => {
    const driven = new DrivenAdmission({ mode: 'threshold', shortage, classify: () => priority })
    driven.turn(1)
    driven.end(driven.ask())
    let count = 0
    for (let i = 0; i < 200; i++) {
      const request = driven.ask()
      if (request.decision === RUN) count++
      driven.end(request)
    }
    return { count, logged: driven.logged }
  }

  for (const [title, shortage] of [
    ['is 0', () => 0],
    ['is below 0', () => -1],
    ['is NaN', () => Number.NaN],
    ['is no number', () => '1'],
    ['is a promise', async () => 1],
  ]) {
    it(`rejects nothing when it ${title}`, () => {
      for (const priority of PRIORITIES) assert.equal(admittedOf(priority, shortage).count, 200)
    })
  }

  it('rejects nothing when it throws, and logs that once', () => {
    assert.deepEqual(admittedOf('normal', fail), { count: 200, logged: ['shed.shortage'] })
  })

  it('is reported where it can be no number, a promise that rejects too, which ends no process', async () => {
    for (const shortage of [() => '0.9', async () => 1, async () => fail()]) {
      assert.deepEqual(admittedOf('normal', shortage), { count: 200, logged: ['shed.shortage'] })
    }
    await new Promise((resolve) => setImmediate(resolve))
  })

  it('is over when it is taken back', () => {
    const driven = new DrivenAdmission({ mode: 'threshold', shortage: () => 1 })
    driven.turn(1)
    assert.equal(driven.refuses, true)
    driven.update({ mode: 'threshold', shortage: undefined })
    assert.equal(driven.refuses, false)
  })

  for (const shortage of [1, 7, Number.POSITIVE_INFINITY]) {
    it(`rejects all normal and low, some high and no critical requests when it is ${shortage}`, () => {
      const counts = PRIORITIES.map((priority) => admittedOf(priority, () => shortage).count)
      const [critical, high, normal, low, bypass] = counts
      assert.deepEqual([critical, normal, low, bypass], [200, 0, 0, 200])
      // Of 200 tosses of a coin, all alike once in 10^60.
      assert.ok(high > 0 && high < 200)
    })
  }

  it('is called at most ten times a second, and not for each request', () => {
    let asked = 0
    const driven = new DrivenAdmission({ shortage: () => asked++ * 0 })
    for (let i = 0; i < 100; i++) {
      driven.end(driven.ask())
      driven.turn(10)
    }
    assert.ok(asked <= 11, String(asked))
  })
})

describe('headers', () => {
  it('adds them to the standard answer', () => {
    const { answer } = refusing({ headers: ({ url }) => ({ 'Access-Control-Allow-Origin': url }) }).ask({
      url: '/a',
    })
    assert.equal(answer.status, 503)
    assert.deepEqual(answer.head.slice(-2), ['Access-Control-Allow-Origin', '/a'])
  })

  for (const [title, headers] of [
    ['throws', fail],
    ['gives nothing', () => undefined],
    ['gives null', () => null],
  ]) {
    it(`answers as ever when it ${title}`, () => {
      const { answer } = refusing({ headers }).ask()
      assert.deepEqual([answer.status, answer.head.length], [503, 8])
    })
  }
})

describe('respond', () => {
  it('answers instead, gets the verdict, and finds Retry-After and Cache-Control set', () => {
    let verdict
    const driven = refusing({
      retryAfter: 7,
      classify: () => 'low',
      respond(_req, res, given) {
        verdict = given
        res.writeHead(429, [])
        res.end('busy')
      },
    })
    const { answer } = driven.ask()
    const { retryAfterSeconds, ...others } = verdict
    const head = ['Retry-After', String(retryAfterSeconds), 'Cache-Control', 'no-store']
    assert.deepEqual(answer, { status: 429, head, body: 'busy' })
    assert.deepEqual(others, { reason: 'concurrency', value: 1, bound: 1, priority: 'low' })
    assert.ok(retryAfterSeconds >= 7 && retryAfterSeconds <= 16)
  })

  it('is followed by the standard answer when it throws, which is logged once', () => {
    const driven = refusing({ respond: fail })
    const requests = [driven.ask(), driven.ask()]
    driven.sendRejections()
    for (const { answer } of requests) assert.equal(answer.status, 503)
    assert.deepEqual(driven.logged, ['shed.respond'])
  })

  it('is followed by it too when it is asynchronous and rejects', async () => {
    const driven = refusing({ respond: async () => fail() })
    const request = driven.ask()
    await Promise.resolve()
    await Promise.resolve()
    assert.equal(request.answer.status, 503)
    assert.deepEqual(driven.logged, ['shed.respond'])
  })

  it('ends the answer it began when it throws in the middle of it', async (t) => {
    const respond = (_req, res) => {
      res.writeHead(429, { 'content-type': 'text/plain' })
      res.write('half')
      fail()
    }
    const { hold, get } = await holdingServer(t, { shed: { ...REFUSE, respond } })
    const first = await hold()
    await assert.rejects(get('/'), { code: 'ECONNRESET' })
    first.release()
    await first.answer
  })
})

/** Each with an error handler that shows what it was given. */
const describeError = (error) => {
  const { code, status, statusCode, reason, priority, name, retryAfterSeconds } = error
  const hasSeconds = Number.isInteger(retryAfterSeconds) && retryAfterSeconds >= 1
  const isOurs = error instanceof OverloadError
  return JSON.stringify({ code, status, statusCode, reason, priority, name, hasSeconds, isOurs })
}
const expressWith = (name) => (spillway, handler) => {
  const app = require(name)()
  app.use(spillway.express())
  app.use(handler)
  app.use((error, _req, res, _next) => res.status(error.status).send(describeError(error)))
  return app
}
const koaWith = (name) => (spillway, handler) => {
  const Koa = require(name)
  const app = new Koa()
  app.use(async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      ctx.status = error.status
      ctx.body = describeError(error)
    }
  })
  app.use(spillway.koa())
  app.use((ctx) => {
    ctx.respond = false
    ctx.res.statusCode = 200
    handler(ctx.req, ctx.res)
  })
  return app
}
const FRAMEWORKS = {
  'Express 5': [expressWith('express'), (app) => app],
  'Express 4': [expressWith('express-4'), (app) => app],
  'Koa 3': [koaWith('koa'), (app) => app.callback()],
  'Koa 2': [koaWith('koa-2'), (app) => app.callback()],
}
const NEXT = { ...REFUSE, errorMode: 'next' }

for (const [name, [build, listenerOf]] of Object.entries(FRAMEWORKS)) {
  const create = (spillway, handler) => http.createServer(listenerOf(build(spillway, handler)))
  const EXPECTED = {
    code: 'ERR_SPILLWAY_OVERLOADED',
    status: 503,
    statusCode: 503,
    priority: 'normal',
    name: 'OverloadError',
    hasSeconds: true,
    isOurs: true,
  }

  describe(`errorMode 'next' with ${name}`, () => {
    it('passes an OverloadError to the error handler', async (t) => {
      const { hold, get } = await holdingServer(t, { shed: NEXT, create })
      const first = await hold()
      const { status, body } = await get('/')
      assert.equal(status, 503)
      assert.deepEqual(JSON.parse(body), { ...EXPECTED, reason: 'concurrency' })
      first.release()
      assert.equal((await first.answer).status, 200)
      assert.equal((await get('/')).status, 200)
    })

    it('passes it to the error handler too when a queued request is rejected', async (t) => {
      const shed = { maxConcurrent: 1, targetDelay: 60_000, maxDelay: 60_000, errorMode: 'next' }
      const { hold, get, waiting, spillway } = await holdingServer(t, { shed, create })
      const first = await hold()
      const second = get('/')
      await waiting(1)
      spillway.close()
      const { status, body } = await second
      assert.equal(status, 503)
      assert.deepEqual(JSON.parse(body), { ...EXPECTED, reason: 'closed' })
      first.release()
      await first.answer
    })

    it('passes it to the error handler under attach too, which leaves the decision to the middleware', async (t) => {
      const { hold, get } = await holdingServer(t, {
        shed: NEXT,
        create: (spillway, handler) => spillway.attach(create(spillway, handler)),
      })
      const first = await hold()
      const { status, body } = await get('/')
      assert.equal(status, 503)
      assert.deepEqual(JSON.parse(body), { ...EXPECTED, reason: 'concurrency' })
      first.release()
      await first.answer
    })
  })
}

test("errorMode 'next' is answered directly by attach() without a middleware to pass the error on", async (t) => {
  const { hold, get } = await holdingServer(t, { shed: NEXT })
  const first = await hold()
  const { status, headers } = await get('/')
  assert.deepEqual([status, headers['content-type']], [503, 'application/problem+json'])
  first.release()
  await first.answer
})

for (const name of ['koa', 'koa-2']) {
  test(`errorMode 'next': the error answer of ${name} itself keeps Retry-After and no-store`, async (t) => {
    const create = (spillway, handler) => {
      const app = new (require(name))()
      app.silent = true
      app.use(spillway.koa())
      app.use((ctx) => {
        ctx.respond = false
        handler(ctx.req, ctx.res)
      })
      return http.createServer(app.callback())
    }
    const { hold, get } = await holdingServer(t, { shed: NEXT, create })
    const first = await hold()
    const { status, headers } = await get('/')
    assert.equal(status, 503)
    assert.match(headers['retry-after'], /^[1-9]\d*$/)
    assert.equal(headers['cache-control'], 'no-store')
    first.release()
    await first.answer
  })
}

test('a header that Node does not take is logged, and the answer goes without it', async (t) => {
  const logged = []
  const { hold, get } = await holdingServer(t, {
    shed: { ...REFUSE, headers: () => ({ 'x-bad': 'a\nb' }) },
    create: attached,
    logger: { warn() {}, error: ({ place }) => logged.push(place) },
  })
  const first = await hold()
  assert.equal((await get('/')).status, 503)
  assert.deepEqual(logged, ['shed.headers'])
  first.release()
  await first.answer
})

test('a header without a value, such as the origin of a client that sends none, is left out, and the others are sent', async (t) => {
  const logged = []
  const headers = (req) => ({ 'access-control-allow-origin': req.headers.origin, vary: ['origin', 'accept'] })
  const { hold, get } = await holdingServer(t, {
    shed: { ...REFUSE, headers },
    create: attached,
    logger: { warn() {}, error: ({ place }) => logged.push(place) },
  })
  const first = await hold()
  const { status, headers: sent } = await get('/')
  assert.deepEqual(
    [status, sent['access-control-allow-origin'], sent.vary],
    [503, undefined, 'origin, accept']
  )
  assert.deepEqual(logged, [])
  first.release()
  await first.answer
})

describe('when a queued request is rejected', () => {
  it('callbacks run in its own context', () => {
    const storage = new AsyncLocalStorage()
    const seen = []
    const respond = () => seen.push(storage.getStore())
    const driven = new DrivenAdmission({ maxConcurrent: 1, maxDelay: 200, respond })
    driven.ask()
    storage.run('its own', () => driven.ask())
    for (let i = 0; i < 50; i++) driven.turn(10)
    assert.deepEqual(seen, ['its own'])
  })
})

test('a class or headers that are a promise are reported, and if it rejects no process ends', async () => {
  for (const [hook, shed] of [
    ['shed.classify', { classify: async () => fail() }],
    ['shed.headers', { headers: async () => fail() }],
  ]) {
    const driven = new DrivenAdmission({ mode: 'threshold', maxConcurrent: 1, ...shed })
    for (let i = 0; i < 3; i++) driven.ask()
    assert.deepEqual(driven.logged, [hook])
    await new Promise((resolve) => setImmediate(resolve))
  }
})
