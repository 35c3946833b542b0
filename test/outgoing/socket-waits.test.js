'use strict'
// How long calls wait for a free socket: real agents and a real server, and a clock that moves only while the
// server answers.

const assert = require('node:assert/strict')
const http = require('node:http')
const { once } = require('node:events')
const { test } = require('node:test')
const undici = require('undici')
const { OutgoingCalls } = require('../../src/features/outgoing/outgoing-calls')
const { serve } = require('../support/serve')
const { stillClock } = require('../support/still-clock')

/** Node 20 does not tell when a request is created. */
const hasCreated = Number(process.versions.node.split('.')[0]) >= 22
const ANSWER_MS = 30

/** A host that answers one request after the other. */
async function observed(t) {
  const clock = stillClock()
  const asker = { method: 'GET', route: '/first', request: {} }
  const calls = new OutgoingCalls({
    clock: /** @type {any} */ (clock),
    internalErrors: /** @type {any} */ ({ report: assert.fail }),
    routes: { overflow: '(other)', unmatched: '(unmatched)' },
    askerAt: () => ({ ...asker }),
  })
  calls.start()
  t.after(() => calls.close())
  const { port } = await serve(t, (_req, res) => {
    clock.advance(ANSWER_MS)
    res.end('answer')
  })
  /** @param {http.Agent} agent @param {string} route */
  const get = async (agent, route = '/first') => {
    asker.route = route
    const [response] = await once(http.get({ host: '127.0.0.1', port, agent }), 'response')
    const isClosed = once(response, 'close')
    await response.resume().toArray()
    await isClosed
  }
  const sumsOf = (route) => [...calls.totals().values()].find((each) => each.route === route)
  const waitOf = (route = '/first') => sumsOf(route)?.parts.waitMs
  return { clock, get, port, sumsOf, waitOf }
}

/** @param {import('node:test').TestContext} t @param {http.AgentOptions} options */
function agentFor(t, options) {
  const agent = new http.Agent({ keepAlive: true, ...options })
  t.after(() => agent.destroy())
  return agent
}

for (const [title, options, waitMs] of /** @type {const} */ ([
  ['each call waits for those before it', { maxSockets: 1 }, ANSWER_MS + 2 * ANSWER_MS],
  ['a limit of all sockets counts too', { maxTotalSockets: 1 }, ANSWER_MS + 2 * ANSWER_MS],
  ['so does one whose sockets are not kept', { maxSockets: 1, keepAlive: false }, ANSWER_MS + 2 * ANSWER_MS],
  ['an agent without a limit makes nobody wait', {}, 0],
])) {
  test(`three calls at a time by node:http: ${title}`, async (t) => {
    const { get, sumsOf, waitOf } = await observed(t)
    const agent = agentFor(t, options)
    await Promise.all([get(agent), get(agent), get(agent)])
    assert.equal(waitOf(), hasCreated ? waitMs : 0)
    const { maxSockets = Infinity, maxTotalSockets = Infinity } = /** @type {http.AgentOptions} */ (options)
    const sockets = Math.min(maxSockets, maxTotalSockets)
    assert.equal(sumsOf('/first')?.waitedFor?.sockets, hasCreated && waitMs > 0 ? sockets : undefined)
  })
}

test('over an agent without a limit, the code that makes a call is not a wait', async (t) => {
  const { clock, get, sumsOf, waitOf } = await observed(t)
  const answered = get(agentFor(t, {}))
  clock.advance(50)
  await answered
  assert.equal(waitOf(), 0)
  assert.equal(sumsOf('/first')?.waitedFor, undefined)
})

test('calls one after another do not wait', async (t) => {
  const { get, sumsOf, waitOf } = await observed(t)
  const agent = agentFor(t, { maxSockets: 1 })
  await get(agent)
  await get(agent)
  assert.equal(waitOf(), 0)
  assert.equal(sumsOf('/first')?.waitedFor, undefined)
})

test('routes over one agent wait for the same sockets, and routes over two agents do not', {
  skip: !hasCreated,
}, async (t) => {
  const { get, sumsOf } = await observed(t)
  const shared = agentFor(t, { maxSockets: 1 })
  const own = agentFor(t, { maxSockets: 1 })
  await Promise.all([
    get(shared),
    get(shared),
    get(shared, '/second'),
    get(own, '/third'),
    get(own, '/third'),
  ])
  const [first, second, third] = ['/first', '/second', '/third'].map((route) => sumsOf(route)?.waitedFor)
  assert.deepEqual(second, first)
  assert.notEqual(third?.agent, first?.agent)
})

test('a route whose calls wait for two agents is not said to wait for one', {
  skip: !hasCreated,
}, async (t) => {
  const { get, sumsOf, waitOf } = await observed(t)
  const agents = [agentFor(t, { maxSockets: 1 }), agentFor(t, { maxSockets: 1 })]
  await Promise.all(agents.flatMap((agent) => [get(agent), get(agent)]))
  assert.ok(Number(waitOf()) > 0)
  assert.equal(sumsOf('/first')?.waitedFor, undefined)
})

test('a call that ends while it waits has waited until then', { skip: !hasCreated }, async (t) => {
  const { get, port, waitOf } = await observed(t)
  const agent = agentFor(t, { maxSockets: 1 })
  const answered = get(agent)
  const left = http.get({ host: '127.0.0.1', port, agent })
  left.destroy()
  await Promise.all([answered, once(left, 'error')])
  assert.equal(waitOf(), ANSWER_MS)
})

test('calls by undici wait for the only connection, but not while it opens', async (t) => {
  const { clock, port, waitOf } = await observed(t)
  const lookup = (_name, options, callback) => {
    clock.advance(400)
    if (options.all) callback(null, [{ address: '127.0.0.1', family: 4 }])
    else callback(null, '127.0.0.1', 4)
  }
  const dispatcher = new undici.Agent({ connections: 1, connect: { lookup } })
  t.after(() => dispatcher.close())
  const call = async () => {
    const { body } = await undici.request(`http://shop.test:${port}`, { dispatcher })
    await body.text()
  }
  await call()
  assert.equal(waitOf(), 0)
  clock.advance(1)
  await Promise.all([call(), call(), call()])
  assert.equal(waitOf(), ANSWER_MS + 2 * ANSWER_MS)
})
