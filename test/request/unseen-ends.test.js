'use strict'
// Which requests are over though nobody has told. Streams are made up: real ones are left by clients that
// hang up at the right moment.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { InFlight } = require('../../src/core/request/in-flight')
const { ABORTED, outcomeOf } = require('../../src/core/request/outcome')
const { UnseenEnds } = require('../../src/core/request/unseen-ends')
const { requestWith } = require('../support/request')

const streaming = (stream) =>
  requestWith({
    res: { destroyed: false },
    stream: stream && {
      closed: true,
      destroyed: false,
      readableEnded: true,
      ...stream,
      destroy() {
        this.destroyed = true
      },
    },
  })

/** @returns {boolean[]} which are destroyed after looks at those times */
function destroyedAfter(requests, ...looksMs) {
  const left = new UnseenEnds(requests, 0)
  for (const nowMs of looksMs) left.onInterval(nowMs)
  return requests.map(({ stream, isEndUnseen }) => {
    assert.equal(isEndUnseen, stream?.destroyed ?? false)
    return isEndUnseen
  })
}

test('a stream that is closed and read at two looks, a second apart, is destroyed', () => {
  assert.deepEqual(destroyedAfter([streaming({})], 1000), [false])
  assert.deepEqual(destroyedAfter([streaming({})], 1000, 1500), [false])
  assert.deepEqual(destroyedAfter([streaming({}), streaming({})], 1000, 2000), [true, true])
})

test('a destroyed stream whose answer was whole counts as aborted', () => {
  const request = streaming({ rstCode: 0, writableFinished: true })
  request.status = 200
  destroyedAfter([request], 1000, 2000)
  assert.equal(outcomeOf(request), ABORTED)
})

test('HTTP/1 requests and open streams are left alone', () => {
  const others = [streaming(undefined), streaming({ closed: false })]
  assert.deepEqual(destroyedAfter(others, 1000, 2000, 3000), [false, false])
})

test('a request whose closed stream has unread data ends, and the data may be read', () => {
  const ended = []
  const requests = new InFlight()
  const recorder = {
    end(request) {
      ended.push(request)
      requests.remove(request)
    },
  }
  const unread = [1, 2, 3].map(() =>
    Object.assign(streaming({ readableEnded: false }), { recorder, isCounted: true })
  )
  for (const request of unread) {
    request.status = 413
    requests.add(request)
  }
  const left = new UnseenEnds(requests, 0)
  left.onInterval(1000)
  assert.deepEqual(ended, [])
  left.onInterval(2000)
  assert.deepEqual(ended, unread)
  assert.ok(unread.every(({ stream, isEndUnseen }) => !stream.destroyed && !isEndUnseen))
})

test('a stream found closed at the first look only is left alone', () => {
  const request = streaming({})
  const left = new UnseenEnds([request], 0)
  left.onInterval(1000)
  request.stream.closed = false
  left.onInterval(2000)
  request.stream.closed = true
  left.onInterval(3000)
  assert.equal(request.isEndUnseen, false)
})
