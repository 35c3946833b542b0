'use strict'
// Every transition of a request from every state: the legal ones arrive, the illegal ones throw and change
// nothing.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const {
  STATE_ANSWERING,
  STATE_ENDED,
  STATE_QUEUED,
  STATE_RECEIVED,
  STATE_RUNNING,
  STATES,
  checkTransitions,
} = require('../../src/core/request/request-record')
const { requestWith } = require('../support/request')

const WAYS_TO = {
  [STATE_RECEIVED]: [],
  [STATE_QUEUED]: ['markQueued'],
  [STATE_RUNNING]: ['markRunning'],
  [STATE_ANSWERING]: ['markAnswering'],
  [STATE_ENDED]: ['markEnded'],
}
const ARRIVALS = {
  markQueued: STATE_QUEUED,
  markRunning: STATE_RUNNING,
  markAnswering: STATE_ANSWERING,
  markEnded: STATE_ENDED,
}
const LEGAL = [
  [STATE_RECEIVED, STATE_QUEUED],
  [STATE_RECEIVED, STATE_RUNNING],
  [STATE_RECEIVED, STATE_ANSWERING],
  [STATE_RECEIVED, STATE_ENDED],
  [STATE_QUEUED, STATE_RUNNING],
  [STATE_QUEUED, STATE_ANSWERING],
  [STATE_QUEUED, STATE_ENDED],
  // By limit(), which the request comes to when it runs.
  [STATE_RUNNING, STATE_QUEUED],
  [STATE_RUNNING, STATE_ANSWERING],
  [STATE_RUNNING, STATE_ENDED],
  [STATE_ANSWERING, STATE_ANSWERING],
  [STATE_ANSWERING, STATE_ENDED],
]

const isLegal = (from, to) => LEGAL.some(([a, b]) => a === from && b === to)

function requestIn(state) {
  const request = requestWith()
  for (const transition of WAYS_TO[state]) request[transition]()
  assert.equal(request.state, state)
  return request
}

for (const [from, name] of STATES.entries()) {
  for (const [transition, to] of Object.entries(ARRIVALS)) {
    test(`${transition}() of a request in state '${name}' ${isLegal(from, to) ? 'is legal' : 'throws'}`, () => {
      const request = requestIn(from)
      if (isLegal(from, to)) {
        request[transition]()
        assert.equal(request.state, to)
      } else {
        const message = `illegal transition: ${transition}() of a request in state '${name}'`
        assert.throws(() => request[transition](), { message })
        assert.equal(request.state, from)
      }
    })
  }
}

test('a request passes through every state, and each state has a name', () => {
  const request = requestWith()
  const seen = [STATES[request.state]]
  for (const transition of ['markQueued', 'markRunning', 'markAnswering', 'markEnded']) {
    request[transition]()
    seen.push(STATES[request.state])
  }
  assert.deepEqual(seen, ['received', 'queued', 'running', 'answering', 'ended'])
})

test('with checks switched off, an illegal transition does not throw', (t) => {
  t.after(() => checkTransitions(true))
  const request = requestIn(STATE_ENDED)
  checkTransitions(false)
  request.markRunning()
  assert.equal(request.state, STATE_RUNNING)
  checkTransitions(true)
  assert.throws(() => request.markRunning(), /illegal transition/)
})

test('isQueued is true until the request runs, is answered, ends or is rejected', () => {
  assert.equal(requestIn(STATE_RECEIVED).isQueued, false)
  assert.equal(requestIn(STATE_QUEUED).isQueued, true)
  for (const transition of ['markRunning', 'markAnswering', 'markEnded']) {
    const request = requestIn(STATE_QUEUED)
    request[transition]()
    assert.equal(request.isQueued, false)
  }
  const rejected = requestIn(STATE_QUEUED)
  rejected.ticket.onReject('loop', 0, {})
  assert.equal(rejected.isQueued, false)
})

test('a request that is refused while it is in flight keeps the time of its admission, by which its duration is learnt', () => {
  const { ticket } = requestIn(STATE_RECEIVED)
  ticket.onAdmit(100, 0)
  ticket.onReject('loop', 1100, {})
  assert.deepEqual([ticket.decidedMs, ticket.isRejected], [100, true])
})
