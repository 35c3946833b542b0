'use strict'
// Which connections the admin server keeps, and for how long. Connections are made up, so that addresses and
// times are the test's.

const assert = require('node:assert/strict')
const { EventEmitter } = require('node:events')
const { test } = require('node:test')
const { promisify } = require('node:util')
const { AdminConnections } = require('../../src/features/admin/connections')
const { handClock } = require('../support/hand-clock')

const turn = promisify(setImmediate)

class MadeUpConnection extends EventEmitter {
  destroyed = false
  /** As Node's: the response in progress. @type {object | null} */
  _httpMessage = null

  constructor(remoteAddress) {
    super()
    this.remoteAddress = remoteAddress
  }

  destroy() {
    this.destroyed = true
    this.emit('close')
  }
}

function connectionsOf({ max = 8, timeoutMs = 10_000 } = {}) {
  const clock = handClock()
  const connections = new AdminConnections({ clock, max, timeoutMs })
  const connect = (address = 'a', count = 1) =>
    Array.from({ length: count }, () => {
      const connection = new MadeUpConnection(address)
      connections.add(connection)
      return connection
    })
  const knownFrom = (address, count) =>
    Array.from({ length: count }, () => {
      const [known] = connect(address)
      connections.authorize(known)
      return known
    })
  return { clock, connections, connect, knownFrom }
}

const open = (connections) => connections.map(({ destroyed }) => !destroyed)

test('a stranger is destroyed after 1.5 seconds, and an authorized connection is not', async () => {
  const { clock, connect, knownFrom } = connectionsOf()
  const [stranger] = connect()
  const [known] = knownFrom('a', 1)
  clock.pass(1400)
  assert.deepEqual(open([stranger, known]), [true, true])
  clock.pass(100)
  await turn()
  assert.deepEqual(open([stranger, known]), [false, true])
  assert.equal(clock.armed(), 0)
})

test('a stranger whose request has arrived during a stall of the loop is answered', async () => {
  const { clock, connect, connections } = connectionsOf()
  const [waiting, silent] = connect('a', 2)
  clock.pass(2000)
  connections.authorize(waiting)
  await turn()
  assert.deepEqual(open([waiting, silent]), [true, false])
})

test('a shorter timeout applies to strangers too', async () => {
  const { clock, connect } = connectionsOf({ timeoutMs: 500 })
  const [stranger] = connect()
  clock.pass(500)
  await turn()
  assert.equal(stranger.destroyed, true)
})

test('strangers of one address get three quarters of the connections, and one more replaces the oldest', () => {
  const { connect } = connectionsOf()
  const many = connect('a', 6)
  assert.deepEqual(open(many), new Array(6).fill(true))
  const [more] = connect('a')
  assert.deepEqual(open([...many, more]), [false, ...new Array(6).fill(true)])
  const others = connect('b', 2)
  assert.deepEqual(open([...many.slice(1), more, ...others]), new Array(8).fill(true))
})

test('if all connections are used, the oldest stranger of the address with the most strangers is replaced', () => {
  const { connect } = connectionsOf()
  const [one] = connect('b')
  const [two] = connect('c')
  const many = connect('a', 6)
  const [newcomer] = connect('d')
  assert.deepEqual(open([one, two, ...many, newcomer]), [true, true, false, ...new Array(6).fill(true)])
})

test('a stranger is replaced before an authorized connection, which counts for no address', () => {
  const { connect, knownFrom } = connectionsOf()
  const known = knownFrom('a', 7)
  const [stranger] = connect('a')
  const [newcomer] = connect('a')
  assert.deepEqual(open([...known, stranger, newcomer]), [...new Array(7).fill(true), false, true])
})

test('if all connections are authorized, one more replaces the one that has been idle longest', () => {
  const { connect, connections, knownFrom } = connectionsOf({ max: 3 })
  const known = knownFrom('a', 3)
  known[0]._httpMessage = {}
  // It has another request, so that the third is now idle for longest.
  connections.authorize(known[1])
  const [first] = connect('a')
  assert.deepEqual(open([...known, first]), [true, true, false, true])
  const [second] = connect('b')
  assert.deepEqual(open([...known, first, second]), [true, true, false, false, true])
})

test('if all connections are authorized and busy, one more is closed until an authorized one ends', () => {
  const { connect, knownFrom } = connectionsOf({ max: 2 })
  const known = knownFrom('a', 2)
  for (const each of known) each._httpMessage = {}
  const [refused] = connect('a')
  assert.deepEqual(open([...known, refused]), [true, true, false])
  known[0].destroy()
  const [taken] = connect('a')
  assert.equal(taken.destroyed, false)
})

test('a single connection goes to the newest stranger, until one is authorized', () => {
  const { connect, connections } = connectionsOf({ max: 1 })
  const [first] = connect()
  const [second] = connect()
  assert.deepEqual(open([first, second]), [false, true])
  connections.authorize(second)
  second._httpMessage = {}
  const [third] = connect()
  assert.deepEqual(open([second, third]), [true, false])
})

test('closed connections leave nothing behind', () => {
  const { clock, connect, connections } = connectionsOf()
  const strangers = connect('a', 5)
  connections.authorize(strangers[0])
  for (const each of strangers) each.destroy()
  // A connection that has closed cannot be authorized any more.
  connections.authorize(strangers[1])
  assert.equal(clock.armed(), 0)
  assert.deepEqual(open(connect('a', 6)), new Array(6).fill(true))
})
