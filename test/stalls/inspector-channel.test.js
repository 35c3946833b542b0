'use strict'
// How long a session stays connected to the main thread: a made-up inspector answers when it is told to.

const assert = require('node:assert/strict')
const { EventEmitter } = require('node:events')
const { test } = require('node:test')
const { WorkerChannel } = require('../../src/features/stalls/inspector-channel')
const { handClock } = require('../support/hand-clock')

const TARGET = 7

/** The channel to thread 7, and what it has posted. */
function setUp({ threads = [3, TARGET, 12] } = {}) {
  const clock = handClock()
  const connected = new Set()
  /** @type {string[]} */
  const posted = []
  let session
  let enabled
  class MadeUpSession extends EventEmitter {
    connectToMainThread() {
      session = this
      connected.add(this)
    }
    post(method, params, callback) {
      if (!connected.has(this)) throw new Error('not connected')
      if (method === 'NodeWorker.enable') enabled = callback
      else posted.push(`${params.sessionId} ${params.message ? JSON.parse(params.message).method : method}`)
    }
    disconnect() {
      connected.delete(this)
    }
  }
  const channel = new WorkerChannel(/** @type {any} */ (MadeUpSession), TARGET, /** @type {any} */ (clock))
  const question = {
    expression: '1',
    asked: 0,
    isOver: false,
    isBlocked: () => !question.isOver,
    onAsked: () => question.asked++,
  }
  channel.open()
  return {
    channel,
    clock,
    connected,
    posted,
    question,
    /** The main thread connects, and attaches to its threads: a session for each. */
    connect() {
      for (const thread of threads)
        session.emit('NodeWorker.attachedToWorker', {
          params: { sessionId: `session-${thread}`, workerInfo: { title: `[worker ${thread}] name` } },
        })
      enabled(null)
    },
    /** The main thread answers again. */
    respond: () => enabled(null),
    answer: (message) =>
      session.emit('NodeWorker.receivedMessageFromWorker', {
        params: { sessionId: `session-${TARGET}`, message: JSON.stringify({ id: 1, ...message }) },
      }),
  }
}
const EVALUATED = `session-${TARGET} Runtime.evaluate`
const TERMINATED = `session-${TARGET} Runtime.terminateExecution`
const DETACHED = [3, TARGET, 12].map((thread) => `session-${thread} NodeWorker.detach`)

test('an answer ends the session, and those of all threads', () => {
  const { answer, channel, clock, connect, connected, posted, question } = setUp()
  channel.evaluate(question)
  connect()
  assert.deepEqual([posted, connected.size, question.asked], [[EVALUATED], 1, 1])
  answer({ result: {} })
  assert.deepEqual([posted, connected.size, clock.armed()], [[EVALUATED, ...DETACHED], 0, 0])
})

test('a worker in native code does not keep it open', () => {
  const { channel, clock, connect, connected, posted, question, respond } = setUp()
  channel.evaluate(question)
  connect()
  clock.pass(100, 1)
  respond()
  assert.deepEqual([posted, connected.size], [[EVALUATED, ...DETACHED], 0])
})

test('a main thread that is late does not lose the answer', () => {
  const { answer, channel, clock, connect, connected, posted, question, respond } = setUp()
  channel.evaluate(question)
  connect()
  clock.pass(1000, 1)
  answer({ error: { message: 'Execution was terminated' } })
  assert.deepEqual([posted, connected.size], [[EVALUATED, TERMINATED], 1])
  respond()
  assert.deepEqual([posted, connected.size], [[EVALUATED, TERMINATED, ...DETACHED], 0])
})

test('a block that is over is not asked about', () => {
  const { channel, connect, connected, posted, question } = setUp()
  channel.evaluate(question)
  question.isOver = true
  connect()
  assert.deepEqual([posted, connected.size, question.asked], [DETACHED, 0, 0])
})

test('a thread that has ended is not asked', () => {
  const { channel, connect, connected, posted, question } = setUp({ threads: [3] })
  channel.evaluate(question)
  connect()
  assert.deepEqual([posted, connected.size, question.asked], [DETACHED.slice(0, 1), 0, 0])
})

test('while the main thread is blocked, the last question waits for it', () => {
  const { channel, connect, connected, question } = setUp()
  const later = { ...question, asked: 0, onAsked: () => later.asked++ }
  channel.evaluate(question)
  const [waiting] = connected
  channel.evaluate(later)
  assert.equal(connected.size, 1)
  assert.ok(connected.has(waiting))
  connect()
  assert.deepEqual([question.asked, later.asked], [0, 1])
})

test('a question takes the place of one without an answer', () => {
  const { answer, channel, clock, connect, connected, posted, question } = setUp()
  channel.evaluate(question)
  connect()
  channel.evaluate({ ...question })
  connect()
  assert.deepEqual([posted, connected.size], [[EVALUATED, ...DETACHED, EVALUATED], 1])
  answer({ result: {} })
  assert.deepEqual([connected.size, clock.armed()], [0, 0])
})

test('a termination that the inspector took is asked for again, while the block lasts', () => {
  const error = { message: 'Execution was terminated' }
  const { answer, channel, connect, connected, posted, question } = setUp()
  channel.evaluate(question)
  connect()
  answer({ error })
  assert.deepEqual([posted, connected.size], [[EVALUATED, TERMINATED], 1])
  answer({ result: {} })
  assert.equal(connected.size, 0)

  posted.length = 0
  channel.evaluate(question)
  connect()
  question.isOver = true
  answer({ error })
  assert.deepEqual([posted, connected.size], [[EVALUATED, ...DETACHED], 0])
})

test('a close before the main thread has connected ends the question', () => {
  const { channel, connect, connected, posted, question } = setUp()
  channel.evaluate(question)
  channel.close()
  connect()
  assert.deepEqual([posted, connected.size, question.asked], [[], 0, 0])
  channel.close()
})
