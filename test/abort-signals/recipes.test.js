'use strict'
// The recipes of docs/cancellation.md and docs/cancel-queries.md, as they stand there: a client leaves, and
// what the handler had begun ends.

const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const http = require('node:http')
const { setTimeout: wait } = require('node:timers/promises')
const { test } = require('node:test')
const express = require('express')
const mysql = require('mysql2')
const { createPool } = require('mysql2/promise')
const { Pool } = require('pg')
const { hasPostgres, startPostgres } = require('../../bench/healthy/postgres')
const { pages } = require('../docs/pages')
const { runBlock } = require('../docs/run-block')
const { serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')

const DISCONNECTED = 'ERR_SPILLWAY_CLIENT_DISCONNECTED'
const PAGES = ['docs/cancellation.md', 'docs/cancel-queries.md']
const blocks = pages.filter(({ path }) => PAGES.includes(path)).flatMap((page) => page.blocks)
const codeUnder = (heading) =>
  blocks.filter((block) => block.language === 'js' && block.heading === heading).map(({ code }) => code)

/**
 * Runs the blocks under a heading on an application, and gives what they declare. `failed()` is the next
 * error of a handler.
 *
 * @param {import('node:test').TestContext} t
 */
async function recipe(t, heading, given = {}) {
  const spillway = spillwayFor(t)
  const app = express()
  const errors = new EventEmitter()
  const codes = codeUnder(heading)
  assert.ok(codes.length > 0, heading)
  const declared = {}
  for (const code of codes)
    Object.assign(
      declared,
      await runBlock(code, { app, spillway, load: (name) => import(name), require, ...given })
    )
  app.use((error, _req, res, _next) => {
    errors.emit('failed', error)
    if (!res.headersSent) res.status(500).end()
  })
  const { port } = await serve(t, spillway.attach(http.createServer(app)))
  /** A client that may leave. */
  const ask = (path, method = 'GET') => {
    const req = http.request({ port, host: '127.0.0.1', path, method, agent: false })
    req.on('error', () => {}).end()
    return req
  }
  const failed = async () => (await once(errors, 'failed'))[0]
  return { app, ask, declared, failed, spillway }
}

/**
 * A service that answers nothing, or begins to. `asked()` resolves when it has a request, with a promise of
 * its end.
 */
async function upstream(t, begin = () => {}) {
  const requests = new EventEmitter()
  const { port } = await serve(t, (req, res) => {
    begin(res)
    requests.emit('asked', once(res, 'close'))
  })
  return {
    url: `http://127.0.0.1:${port}`,
    asked: async () => ({ closed: (await once(requests, 'asked'))[0] }),
  }
}

for (const [heading, name, path] of [
  ['Cancellation', 'reports', '/report'],
  ['A time limit as well', 'quotes', '/quote'],
]) {
  test(`fetch ends with its client: ${heading}`, async (t) => {
    const { asked, url } = await upstream(t)
    const { ask, failed } = await recipe(t, heading, { [name]: url })
    const begun = asked()
    const client = ask(path)
    const { closed } = await begun
    const error = failed()
    client.destroy()
    assert.equal((await error).code, DISCONNECTED)
    await closed
  })
}

test('work of one’s own ends between two steps', async (t) => {
  const begun = new EventEmitter()
  const added = []
  const add = async (part) => {
    added.push(part)
    begun.emit('added')
    return part
  }
  function* endless() {
    for (let i = 0; ; i++) yield i
  }
  const { ask, failed } = await recipe(t, 'Work of your own', { parts: endless(), add })
  const first = once(begun, 'added')
  const client = ask('/sum')
  await first
  const error = failed()
  client.destroy()
  const { name } = await error
  assert.equal(name, 'AbortError')
  const { length } = added
  await wait(30)
  assert.equal(added.length, length)
})

test('a query of pg is cancelled in Postgres', { skip: !hasPostgres() }, async (t) => {
  const postgres = await startPostgres()
  assert.ok(postgres, 'Postgres has started')
  const pools = []
  const open = (options) => {
    const pool = new Pool({ connectionString: postgres.url, ...options })
    pool.on('error', () => {})
    pools.push(pool)
    return pool
  }
  t.after(async () => {
    await Promise.all(pools.map((each) => each.end()))
    await postgres.stop()
  })
  const pool = open({ max: 1 })
  class CancellingPool extends Pool {
    constructor(options) {
      super(options)
      pools.push(this)
    }
  }
  const given = {
    pool,
    process: { env: { DATABASE_URL: postgres.url } },
    require: () => ({ Pool: CancellingPool }),
  }
  const { app, ask, declared, spillway } = await recipe(t, 'Postgres with pg', given)
  const queried = new EventEmitter()
  app.get('/slow', (req) => {
    declared
      .query(spillway.signal(req), 'select pg_sleep(600), $1::int', [7])
      .catch((error) => queried.emit('failed', error))
  })
  const watch = open({ max: 1 })
  const running = async () => {
    const { rows } = await watch.query(
      "select pid from pg_stat_activity where query like 'select pg_sleep%' and state = 'active'"
    )
    return rows.length
  }
  const client = ask('/slow')
  while ((await running()) === 0) await wait(5)
  const failed = once(queried, 'failed')
  client.destroy()
  assert.equal((await failed)[0].code, DISCONNECTED)
  // Postgres sends the error before it marks its connection as idle.
  while ((await running()) > 0) await wait(5)
  // The pool has closed the connection, and opens another.
  const signal = new AbortController().signal
  const { rows } = await declared.query(signal, 'select 7 as id')
  assert.deepEqual(rows, [{ id: 7 }])
  await assert.rejects(declared.query(AbortSignal.abort(new Error('gone')), 'select 1'), /gone/)
})

/** A MySQL of one query, which sleeps until another connection kills it. */
function fakeMysql(t) {
  const server = mysql.createServer()
  const said = new EventEmitter()
  const sleeping = new Map()
  let ids = 100
  const connections = []
  server.on('connection', (connection) => {
    const connectionId = ids++
    connections.push(connection)
    connection.serverHandshake({
      protocolVersion: 10,
      serverVersion: '8.0.0',
      connectionId,
      statusFlags: 2,
      characterSet: 8,
      capabilityFlags: 0xffffff,
      authCallback: (_params, done) => {
        done(null)
        process.nextTick(() => (connection.sequenceId = 0))
      },
    })
    connection.on('error', () => {})
    connection.on('query', (sql) => {
      // Each command begins at 0; a server's connection would count on.
      connection.sequenceId = 1
      const killed = /^KILL QUERY (\d+)$/.exec(sql)?.[1]
      if (killed === undefined) {
        sleeping.set(connectionId, connection)
        said.emit('sleeping', connectionId)
        return
      }
      said.emit('killed', Number(killed))
      sleeping.get(Number(killed)).writeError({ code: 1317, message: 'Query execution was interrupted' })
      connection.writeOk({ affectedRows: 0 })
    })
  })
  t.after(() => {
    for (const { stream } of connections) stream.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve({ said, port: server._server.address().port }))
  )
}

test('a query of mysql2 is killed', async (t) => {
  const { said, port } = await fakeMysql(t)
  const uri = `mysql://app:secret@127.0.0.1:${port}/shop`
  const database = createPool({ uri, connectionLimit: 1 })
  const pools = [database]
  const given = {
    database,
    process: { env: { DATABASE_URL: uri } },
    require: () => ({
      createPool: (options) => {
        pools.push(createPool(options))
        return pools.at(-1)
      },
    }),
  }
  t.after(() => Promise.all(pools.map((pool) => pool.end())))
  const { app, ask, declared, spillway } = await recipe(t, 'MySQL with mysql2', given)
  const queried = new EventEmitter()
  app.get('/slow', (req) => {
    declared.query(spillway.signal(req), 'select sleep(600)').catch((error) => queried.emit('failed', error))
  })
  const sleeping = once(said, 'sleeping')
  const client = ask('/slow')
  const [id] = await sleeping
  const killed = once(said, 'killed')
  const failed = once(queried, 'failed')
  client.destroy()
  assert.deepEqual(await killed, [id])
  assert.equal((await failed)[0].code, DISCONNECTED)
})

test('a generator in a pipeline learns of it in the middle of what it awaits', async (t) => {
  const ended = new EventEmitter()
  const orders = {
    async *each({ signal }) {
      try {
        yield { id: 1 }
        await wait(600_000, undefined, { signal })
      } finally {
        ended.emit('ended', signal.reason.name)
      }
    },
  }
  const { ask } = await recipe(t, 'Streams', { orders, file: __filename })
  const client = ask('/export')
  const [answer] = await once(client, 'response')
  await once(answer, 'data')
  const end = once(ended, 'ended')
  client.destroy()
  // `pipeline` hands its generators a signal of its own.
  assert.deepEqual(await end, ['AbortError'])
})

test('a stream beside a pipeline answers, and its file is closed', async (t) => {
  const { ask } = await recipe(t, 'Streams', { orders: {}, file: __filename })
  const [answer] = await once(ask('/words'), 'response')
  answer.setEncoding('utf8')
  const [text] = await once(answer, 'data')
  assert.ok(JSON.parse(text).count > 100)
})

test('a model is asked no further once its reader has left', async (t) => {
  const { asked, url } = await upstream(t, (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write('data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n')
  })
  const { ask, failed } = await recipe(t, 'A language model that streams tokens', { model: url })
  const begun = asked()
  const client = ask('/chat', 'POST')
  const { closed } = await begun
  const [answer] = await once(client, 'response')
  const [token] = await once(answer, 'data')
  assert.match(String(token), /Hel/)
  const error = failed()
  client.destroy()
  assert.equal((await error).name, 'AbortError')
  await closed
})
