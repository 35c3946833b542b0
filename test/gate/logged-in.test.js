'use strict'
// Users who are logged in go before others: the two recipes of docs/recipes.md, by a token that is looked at
// before the gate, and with the middleware behind the one that finds the user.

const assert = require('node:assert/strict')
const { createHmac } = require('node:crypto')
const { describe, it } = require('node:test')
const { WAYS, alone, attachedTo, express, koa } = require('./every-way')
const { QUEUE, REFUSE, holdingServer } = require('./holding-server')
const { recipe } = require('./recipes')

const SECRET = 'a secret of this test'
const NEVER = 4_000_000_000

const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')

function tokenFor(claims, secret = SECRET) {
  const content = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ exp: NEVER, ...claims })}`
  return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`
}

const bearer = (token) => ({ authorization: `Bearer ${token}` })

/**
 * Sends requests to a server that is busy, one after the other, and tells in which order they ran.
 *
 * @param {Record<string, object>} headersByPath in the order in which they are sent
 */
async function orderOf(t, { shed, create }, headersByPath) {
  const order = []
  const work = (req, res) => {
    order.push(req.url)
    res.end()
  }
  const { get, hold, waiting } = await holdingServer(t, { shed: { ...QUEUE, ...shed }, create, work })
  const first = await hold()
  const answers = []
  for (const [path, headers] of Object.entries(headersByPath)) {
    answers.push(get(path, { headers }))
    await waiting(answers.length)
  }
  first.release()
  for (const { status } of await Promise.all([first.answer, ...answers])) assert.equal(status, 200)
  return order
}

describe('a token that is verified before the gate', () => {
  const shedByToken = async () => {
    process.env.SESSION_SECRET = SECRET
    return (await recipe('Look at the token before the gate')).shed
  }

  for (const way of ['attach()', 'wrap()', 'attach() around Express']) {
    it(`prefers users to strangers and forgers under ${way}`, async (t) => {
      const paid = tokenFor({ sub: 'a', plan: 'paid' })
      const forged = tokenFor({ sub: 'b', plan: 'paid' }, 'another secret')
      const unsigned = `${part({ alg: 'none' })}.${part({ plan: 'paid', exp: NEVER })}.`
      const order = await orderOf(
        t,
        { shed: await shedByToken(), create: WAYS[way] },
        {
          '/stranger': {},
          '/free': bearer(tokenFor({ sub: 'c', plan: 'free' })),
          '/forged': bearer(forged),
          '/unsigned': bearer(unsigned),
          '/expired': bearer(tokenFor({ sub: 'd', plan: 'paid', exp: 1 })),
          '/no-token': bearer('x'),
          '/paid': bearer(paid),
          '/paid-by-cookie': { cookie: `theme=dark; session=${paid}` },
          '/forged-again': bearer(forged),
        }
      )
      assert.deepEqual(order, [
        '/paid',
        '/paid-by-cookie',
        '/free',
        '/stranger',
        '/forged',
        '/unsigned',
        '/expired',
        '/no-token',
        '/forged-again',
      ])
    })
  }

  it('is verified before the framework runs', async (t) => {
    let entered = 0
    const app = (_spillway, handler) =>
      require('express')()
        .use((_req, _res, next) => next(void entered++))
        .use(handler)
    const shed = { ...REFUSE, ...(await shedByToken()) }
    const { get, hold, admission } = await holdingServer(t, { shed, create: attachedTo(app) })
    const first = await hold()
    assert.equal((await get('/', { headers: bearer(tokenFor({ plan: 'paid' })) })).status, 503)
    first.release()
    await first.answer
    assert.equal(entered, 1)
    assert.deepEqual(admission().shed, [{ reason: 'concurrency', priority: 'high', count: 1 }])
  })
})

describe('a middleware behind the one that finds the user', () => {
  const users = { 1: { plan: 'free' }, 2: { plan: 'paid' } }
  /** As a session store does it, it answers later. */
  const find = async (headers) => {
    await new Promise((resolve) => setImmediate(resolve))
    return users[headers.cookie]
  }
  const authenticate = (req, _res, next) =>
    void find(req.headers).then((user) => {
      req.user = user
      next()
    })
  const authenticateKoa = async (ctx, next) => {
    ctx.state.user = await find(ctx.headers)
    ctx.req.user = ctx.state.user
    return next()
  }

  for (const [way, create] of Object.entries({
    'express()': alone(express('express', [authenticate])),
    'express() in Express 4': alone(express('express-4', [authenticate])),
    'attach() and express()': attachedTo(express('express', [authenticate])),
    'koa()': alone(koa('koa', [authenticateKoa])),
    'attach() and koa()': attachedTo(koa('koa', [authenticateKoa])),
  })) {
    it(`prefers users to strangers with ${way}`, async (t) => {
      const { shed } = await recipe('Decide after authentication')
      const order = await orderOf(
        t,
        { shed, create },
        {
          '/stranger': {},
          '/free': { cookie: '1' },
          '/paid': { cookie: '2' },
          '/stranger-again': { cookie: '3' },
          '/paid-again': { cookie: '2' },
        }
      )
      assert.deepEqual(order, ['/paid', '/paid-again', '/free', '/stranger', '/stranger-again'])
    })
  }
})
