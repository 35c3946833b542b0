'use strict'
// Who is told when a client half-closes: before Node's own listener, once, and nobody whose request has gone
// on meanwhile.

const assert = require('node:assert/strict')
const { EventEmitter } = require('node:events')
const { test } = require('node:test')
const { offHalfClose, onHalfClose } = require('../../src/core/request/half-closed')
const { QUEUED } = require('../../src/core/gate/decision')
const { DrivenAdmission } = require('../gate/driven-admission')

function connection() {
  const socket = new EventEmitter()
  const told = []
  socket.on('end', () => told.push('node'))
  const on = (name) => {
    const callback = () => told.push(name)
    onHalfClose({ socket }, callback)
    return callback
  }
  return { on, socket, told }
}

test('all callbacks of a connection run in their order, before Node ends the connection', () => {
  const { on, socket, told } = connection()
  on('first')
  on('second')
  socket.emit('end')
  assert.deepEqual(told, ['first', 'second', 'node'])
})

test('one listener serves all requests of a pipeline, and is removed with the last', () => {
  const { on, socket, told } = connection()
  const callbacks = Array.from({ length: 50 }, (_, i) => on(i))
  assert.equal(socket.listenerCount('end'), 2)
  for (const callback of callbacks) offHalfClose({ socket }, callback)
  assert.equal(socket.listenerCount('end'), 1)
  socket.emit('end')
  assert.deepEqual(told, ['node'])
})

test('no callback runs twice, or after it was removed', () => {
  const { on, socket, told } = connection()
  const gone = on('gone')
  on('waiting')
  offHalfClose({ socket }, gone)
  offHalfClose({ socket }, gone)
  socket.emit('end')
  socket.emit('end')
  assert.deepEqual(told, ['waiting', 'node', 'node'])
})

test('a callback may remove itself, and a callback added later does not run', () => {
  const { socket, told } = connection()
  const callback = () => {
    offHalfClose({ socket }, callback)
    told.push('told')
  }
  onHalfClose({ socket }, callback)
  socket.emit('end')
  assert.deepEqual(told, ['told', 'node'])
  onHalfClose({ socket }, callback)
  assert.deepEqual(told, ['told', 'node'])
  offHalfClose({ socket }, callback)
  assert.equal(socket.listenerCount('end'), 1)
})

for (const [what, request] of Object.entries({
  'a stream of HTTP/2, which ends by itself': { socket: new EventEmitter(), stream: {} },
  'a request without a socket': { socket: undefined },
  'a made-up socket that tells of nothing': { socket: {} },
})) {
  test(`${what} gets no listener`, () => {
    onHalfClose(/** @type {any} */ (request), () => {})
    assert.equal(request.socket?.listenerCount?.('end') ?? 0, 0)
    offHalfClose(/** @type {any} */ (request), () => {})
  })
}

/** One in flight, and one that is queued on a connection. */
function queuedBehind(shed) {
  const driven = new DrivenAdmission({ maxConcurrent: 1, ...shed })
  const running = driven.ask()
  const socket = new EventEmitter()
  const queued = driven.ask({ socket })
  assert.equal(queued.decision, QUEUED)
  return { driven, queued, running, socket }
}

for (const headers of [{ 'content-length': '12' }, { 'transfer-encoding': 'chunked' }]) {
  test(`a queued request with a body is rejected where its client half-closes, because a body parser would skip it: ${Object.keys(headers)}`, () => {
    const driven = new DrivenAdmission({ maxConcurrent: 1 })
    const running = driven.ask()
    const socket = new EventEmitter()
    const queued = driven.ask({ socket, method: 'POST', headers })
    driven.end(running)
    socket.emit('end')
    assert.equal(queued.answer.status, 503)
  })
}

test('a queued request whose client half-closes runs at once if a slot is free', () => {
  const { driven, queued, running, socket } = queuedBehind({})
  driven.end(running)
  socket.emit('end')
  assert.deepEqual([queued.hasRun, driven.admission.sample().inFlight], [true, 1])
  driven.turn(1)
  driven.end(queued)
  const { abandoned, admitted, inFlight, shed } = driven.admission.sample()
  assert.deepEqual([abandoned, admitted, inFlight, shed], [0, 2, 0, []])
})

test('a queued request whose client half-closes is rejected at once if no slot is free', () => {
  const { driven, queued, socket } = queuedBehind({})
  socket.emit('end')
  assert.deepEqual([queued.hasRun, queued.answer?.status], [undefined, 503])
  driven.turn(1)
  driven.end(queued)
  const { abandoned, shed, queued: stillQueued } = driven.admission.sample()
  assert.deepEqual([abandoned, stillQueued], [0, 0])
  assert.deepEqual(shed, [{ reason: 'concurrency', priority: 'normal', count: 1 }])
})

test('half-closing is no way past the queue of an overload: clients that have disconnected look the same, and would run one by one', () => {
  const driven = new DrivenAdmission({})
  const runs = []
  for (let turn = 0; turn < 400; turn++) {
    const socket = new EventEmitter()
    driven.admission.onConnectionEvent('connection', { isSecure: false, isHandedOver: false })
    const request = driven.ask({ socket })
    socket.emit('end')
    runs.push(request.answer === undefined)
    driven.turn(3)
    driven.end(request)
  }
  const later = runs.slice(runs.indexOf(false))
  const ran = later.filter((hasRun) => hasRun).length
  assert.equal(runs[0], true)
  // A turn takes 3 ms, and one request may run every 100 ms.
  assert.ok(ran > 0 && ran <= Math.ceil((later.length * 3) / 100), `${ran} of ${later.length} ran`)
})

test('a queued request whose client half-closes is answered at once though 503s are sent late', () => {
  const { driven, queued, socket } = queuedBehind({})
  driven.admission.measurements.cost.rejectedShare = 0.1
  socket.emit('end')
  assert.equal(queued.answer?.status, 503)
})

test('a request that left the queue is run once, though its client half-closes then', () => {
  const { driven, queued, running, socket } = queuedBehind({})
  let runs = 0
  queued.ticket.runQueued = () => runs++
  driven.end(running)
  driven.turn(1)
  assert.equal(runs, 1)
  socket.emit('end')
  assert.deepEqual([runs, socket.listenerCount('end')], [1, 0])
})

test('a request that runs because its client half-closes does not put the other keys behind its own', () => {
  const driven = new DrivenAdmission({ maxConcurrent: 1, maxDelay: 60_000, key: (req) => req.key })
  const running = driven.ask()
  const socket = new EventEmitter()
  for (let i = 0; i < 5; i++) driven.ask({ key: 'greedy' })
  const last = driven.ask({ key: 'greedy', socket })
  driven.end(running)
  socket.emit('end')
  assert.equal(last.hasRun, true)
  const other = driven.ask({ key: 'other' })
  assert.deepEqual([other.decision, other.ticket.queueEntry.tag], [QUEUED, 1])
})

test('a handler that closes the instance as its client half-closes leaves nothing for the next of its pipeline', async () => {
  const { driven, queued, running, socket } = queuedBehind({})
  const next = driven.ask({ socket })
  queued.ticket.runQueued = () => driven.admission.close()
  driven.end(running)
  socket.emit('end')
  assert.deepEqual([next.hasRun, next.answer?.status], [undefined, 503])
  // An error of a callback is thrown in a tick of its own.
  await new Promise(setImmediate)
})
