'use strict'
// Answers of the user's own: the recipes of docs/recipes.md under each way to use spillway, and what
// `respond` and `headers` get and may do.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http2 = require('node:http2')
const net = require('node:net')
const { after, describe, it, test } = require('node:test')
const { WAYS } = require('./every-way')
const { REFUSE, holdingServer } = require('./holding-server')
const { recipe, recipes } = require('./recipes')

const BROWSER = 'text/html,application/xhtml+xml,*/*;q=0.8'
const GRAPHQL = { path: '/graphql', method: 'POST', body: '{"query":"{ shop }"}' }

/** A server of which one request holds the only slot: every other is rejected until the test is over. */
async function refusing(t, { shed, create, ...given }) {
  const server = await holdingServer(t, { shed: { ...REFUSE, ...shed }, create, ...given })
  const first = await server.hold()
  // Cut by the end of the test.
  first.answer.catch(() => {})
  return server
}

/** What each recipe has to send, by its heading; `ask` says how it is asked. */
const EXPECTED = {
  'An HTML page': {
    ask: { headers: { accept: BROWSER } },
    status: 503,
    type: 'text/html; charset=utf-8',
    body: /^<!doctype html>.*We are busy/,
  },
  'JSON of your own': {
    status: 429,
    type: 'application/json',
    body: /^\{"error":\{"code":"busy","retryAfterSeconds":\d+\}\}$/,
  },
  'A redirect': { status: 302, location: 'https://status.example.com/busy', body: /^$/ },
  'A GraphQL error': {
    ask: { ...GRAPHQL, headers: { accept: 'application/graphql-response+json' } },
    status: 503,
    type: 'application/graphql-response+json',
    body: /^\{"errors":\[\{"message":"Overloaded\. Try again later\.","extensions":\{"code":"OVERLOADED","retryAfterSeconds":\d+\}\}\]\}$/,
  },
  'Headers for browsers': {
    ask: { headers: { origin: 'https://shop.example.com' } },
    status: 503,
    type: 'application/problem+json',
    origin: 'https://shop.example.com',
    priority: 'normal',
    body: /"status":503/,
  },
}
/** Tested below, in logged-in.test.js and in shed-recipes.test.js. */
const OTHERS = [
  'A cached answer',
  'By header',
  'By path',
  'Look at the token before the gate',
  'Decide after authentication',
  'Equal shares for tenants',
  'A database pool',
]

test('every recipe of the page is tested', () => {
  assert.deepEqual(recipes().sort(), [...Object.keys(EXPECTED), ...OTHERS].sort())
})

const isStandard = ({ status, headers, body }) => {
  assert.equal(status, 503)
  assert.equal(headers['content-type'], 'application/problem+json')
  assert.equal(JSON.parse(body).detail, 'Overloaded. Try again later.')
}

for (const [way, create] of Object.entries(WAYS)) {
  describe(`under ${way}`, () => {
    for (const [heading, { ask, status, type, location, origin, priority, body }] of Object.entries(
      EXPECTED
    )) {
      it(`the recipe '${heading}' is sent`, async (t) => {
        const { shed } = await recipe(heading)
        const { request } = await refusing(t, { shed, create })
        const { body: sent, ...options } = ask ?? {}
        const answer = await request({ path: '/', ...options }, sent)
        assert.equal(answer.status, status)
        assert.match(answer.body, body)
        assert.equal(answer.headers['content-type'], type)
        assert.equal(answer.headers.location, location)
        assert.equal(answer.headers['access-control-allow-origin'], origin)
        assert.equal(answer.headers['x-priority'], priority)
        assert.equal(answer.headers['cache-control'], 'no-store')
        assert.match(answer.headers['retry-after'], /^[1-9]\d*$/)
      })
    }

    it("the recipe 'A cached answer' is sent once there is one", async (t) => {
      const { shed, remember } = await recipe('A cached answer', ['shed', 'remember'])
      const { get, request } = await refusing(t, { shed, create })
      isStandard(await get('/news'))
      remember('/news', 'text/plain', 'old news')
      const { status, headers, body } = await get('/news')
      assert.deepEqual([status, headers['content-type'], body], [200, 'text/plain', 'old news'])
      assert.match(headers.age, /^\d+$/)
      assert.equal(headers['retry-after'], undefined)
      isStandard(await request({ path: '/news', method: 'POST' }, 'x'))
      isStandard(await get('/other'))
    })

    it('a recipe that declines sends the standard answer', async (t) => {
      const { shed } = await recipe('An HTML page')
      const { get } = await refusing(t, { shed, create })
      isStandard(await get('/', { headers: { accept: 'application/json' } }))
    })

    it('both functions get the same verdict, of five fields', async (t) => {
      const seen = []
      const shed = {
        classify: () => 'low',
        headers: (_req, verdict) => void seen.push(verdict),
        respond: (_req, res, verdict) => {
          seen.push(verdict)
          res.end()
        },
      }
      const { get } = await refusing(t, { shed, create })
      const { headers } = await get('/')
      const retryAfterSeconds = Number(headers['retry-after'])
      const expected = { reason: 'concurrency', value: 1, bound: 1, priority: 'low', retryAfterSeconds }
      assert.deepEqual(seen, [expected, expected])
    })

    it('the status is 503 where respond sets none', async (t) => {
      const { get } = await refusing(t, { shed: { respond: (_req, res) => res.end('busy') }, create })
      const { status, body } = await get('/')
      assert.deepEqual([status, body], [503, 'busy'])
    })

    it('respond may answer late, and decline late', async (t) => {
      const respond = async (req, res) => {
        await new Promise((resolve) => setImmediate(resolve))
        if (req.url === '/declined') return false
        res.end('late')
      }
      const { get } = await refusing(t, { shed: { respond }, create })
      assert.equal((await get('/')).body, 'late')
      isStandard(await get('/declined'))
    })

    it('HEAD gets the headers of respond, and no body', async (t) => {
      const { shed } = await recipe('JSON of your own')
      const { request } = await refusing(t, { shed, create })
      const { status, headers, body } = await request({ path: '/', method: 'HEAD' })
      assert.deepEqual([status, headers['content-type'], body], [429, 'application/json', ''])
    })
  })
}

test('the answer of respond has the headers of shed.headers, and may replace them', async (t) => {
  const shed = {
    headers: () => ({
      'x-shop': 'a',
      'x-both': 'headers',
      'retry-after': 30,
      'content-length': 1,
      'x-none': undefined,
    }),
    respond: (_req, res) => {
      res.setHeader('x-both', 'respond')
      res.end('busy')
    },
  }
  const { get } = await refusing(t, { shed })
  const { headers, body } = await get('/')
  assert.deepEqual(
    [headers['x-shop'], headers['x-both'], headers['retry-after'], headers['content-length'], body],
    ['a', 'respond', '30', '4', 'busy']
  )
})

test('the standard answer has the headers too if respond declines', async (t) => {
  const shed = { headers: () => ({ 'x-shop': 'a', 'Retry-After': 30 }), respond: () => false }
  const { get } = await refusing(t, { shed })
  const answer = await get('/')
  isStandard(answer)
  assert.deepEqual([answer.headers['x-shop'], answer.headers['retry-after']], ['a', '30'])
})

test('headers that Node does not take are reported, and respond answers without them', async (t) => {
  const logged = []
  const { get, spillway } = await refusing(t, {
    shed: {
      headers: () => ({ 'cache-control': 'public', 'x-bad': 'a\nb' }),
      respond: (_req, res) => res.end('busy'),
    },
    logger: { warn() {}, error: ({ place }) => logged.push(place) },
  })
  const { headers, body } = await get('/')
  assert.deepEqual([headers['cache-control'], headers['x-bad'], body], ['no-store', undefined, 'busy'])
  assert.deepEqual(logged, ['shed.headers'])
  assert.deepEqual(spillway.snapshot().internalErrors, { 'shed.headers': 1 })
})

test('an object whose keys cannot be read is reported too, and ends no process', async (t) => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  const logged = []
  const logger = { warn() {}, error: ({ place }) => logged.push(place) }
  const { get } = await refusing(t, { shed: { headers: () => proxy, respond: () => false }, logger })
  isStandard(await get('/'))
  assert.deepEqual(logged, ['shed.headers'])
})

test('false after the answer has begun changes nothing', async (t) => {
  const respond = (_req, res) => {
    res.writeHead(503, { 'content-type': 'text/plain' })
    res.end('busy')
    return false
  }
  const { get } = await refusing(t, { shed: { respond } })
  assert.equal((await get('/')).body, 'busy')
})

test('the standard answer after a respond that threw has no header of the intended body', async (t) => {
  const respond = (_req, res) => {
    res.setHeader('content-encoding', 'gzip')
    res.setHeader('content-type', 'text/html')
    res.setHeader('content-length', 7)
    throw new Error('a mistake of the user')
  }
  const { get } = await refusing(t, { shed: { respond }, logger: { warn() {}, error() {} } })
  const answer = await get('/')
  isStandard(answer)
  assert.equal(answer.headers['content-encoding'], undefined)
})

test('a body that is not read closes the connection after an answer of respond, as after the standard one', async (t) => {
  const { port } = await refusing(t, { shed: { respond: (_req, res) => res.end('busy') } })
  const socket = net.connect(port, '127.0.0.1')
  after(() => socket.destroy())
  socket.setEncoding('latin1')
  let text = ''
  socket.on('data', (piece) => {
    text += piece
  })
  // It asks before it sends, is told no, and keeps its body: its next request is not part of one.
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n')
  await once(socket, 'end')
  assert.match(text, /^HTTP\/1\.1 503 .*\r\nConnection: close\r\n.*busy$/s)
})

describe('over HTTP/2', () => {
  const create = (spillway, handler) => spillway.attach(http2.createServer(handler))

  /** A session on a server whose only slot is taken. */
  async function session(t, given) {
    const server = await holdingServer(t, { create, ...given, shed: { ...REFUSE, ...given.shed } })
    const client = http2.connect(`http://127.0.0.1:${server.port}`)
    t.after(() => client.destroy())
    const held = server.isHeld()
    client.request({ ':path': '/hold' })
    await held
    return { ...server, client }
  }

  it('a recipe is sent, and the session stays', async (t) => {
    const { client } = await session(t, await recipe('JSON of your own'))
    for (let i = 0; i < 2; i++) {
      const stream = client.request({ ':path': '/', ':method': 'POST', 'content-length': '70000' })
      const [headers] = await once(stream, 'response')
      stream.resume().end()
      assert.deepEqual([headers[':status'], headers['content-type']], [429, 'application/json'])
      assert.equal(headers.connection, undefined)
    }
  })

  for (const [title, answer] of Object.entries({
    declines: () => false,
    throws: () => {
      throw new Error('a mistake of the user')
    },
  })) {
    it(`a respond that ${title} after its client has cancelled does no harm`, async (t) => {
      const asked = []
      const cancelled = []
      const respond = async (_req, res) => {
        const gone = once(res, 'close')
        asked.pop()()
        await gone
        cancelled.pop()()
        return answer()
      }
      const { client, admission, refused } = await session(t, { shed: { respond } })
      const isAsked = new Promise((resolve) => asked.push(resolve))
      const isCancelled = new Promise((resolve) => cancelled.push(resolve))
      const stream = client.request({ ':path': '/' })
      stream.on('error', () => {})
      await isAsked
      stream.close(http2.constants.NGHTTP2_CANCEL)
      await isCancelled
      await refused(1)
      await new Promise((resolve) => setImmediate(resolve))
      assert.equal(admission().inFlight, 1)
    })
  }
})
