'use strict'
// A connection that fails is unhandled exactly if the application does not handle it, with `pool()` as
// without.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { runNode } = require('../support/run-node')

const PG = `
  const { Pool } = require('pg')
  const { FakeClient, withoutDatabase } = require('./test/pools/fake-client')
  class Failing extends FakeClient {
    connect(done) { setImmediate(done, new Error('no database')) }
  }
  const pool = new Pool(withoutDatabase({ Client: Failing }))
  const ask = () => pool.connect()
`
const GENERIC = `
  const pool = require('generic-pool').createPool({ create: async () => ({}), destroy: async () => {} }, { max: 1 })
  pool.drain()
  const ask = () => pool.acquire()
`
const TARN = `
  const { Pool } = require('tarn')
  const create = async () => { throw new Error('no database') }
  const pool = new Pool({ create, destroy() {}, min: 0, max: 1, propagateCreateError: true })
  const ask = () => pool.acquire().promise
`
const MYSQL = `
  const pool = require('mysql2').createPool({ host: '127.0.0.1', port: 1, connectTimeout: 1000 }).promise()
  const ask = () => pool.getConnection()
`

/** The errors that the application handled, and those that nobody handled. */
async function outcomeOf(t, lines, { isObserved, isHandled }) {
  const { output } = await runNode(
    `
    ${lines}
    const { createSpillway } = require('./src')
    const spillway = createSpillway({ logger: false })
    if (${isObserved}) spillway.pool('orders', pool)
    const [handled, unhandled] = [[], []]
    const done = () => setImmediate(() => {
      console.log(JSON.stringify({ handled, unhandled }))
      process.exit()
    })
    process.on('unhandledRejection', ({ message }) => { unhandled.push(message); done() })
    const asked = ask()
    if (${isHandled}) asked.catch(({ message }) => { handled.push(message); done() })
    `,
    { t }
  )
  return output
}

for (const [name, lines] of Object.entries({
  'pg-pool': PG,
  'generic-pool': GENERIC,
  tarn: TARN,
  mysql2: MYSQL,
}))
  for (const isHandled of [true, false])
    test(`${name}: the failure is ${isHandled ? 'handled' : 'unhandled'}, as without`, async (t) => {
      const [without, observed] = await Promise.all(
        [false, true].map((isObserved) => outcomeOf(t, lines, { isObserved, isHandled }))
      )
      assert.deepEqual(observed, without)
      assert.deepEqual([observed.handled.length, observed.unhandled.length], isHandled ? [1, 0] : [0, 1])
    })
