'use strict'
// What a report of Artillery becomes: a part for each endpoint or event, and one for whole sessions.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { partsOf } = require('../../examples/stories/frame/artillery')

const TIMES = { count: 40, max: 90, mean: 20.5, p50: 20, p95: 60, p99: 80 }
const ENDPOINT = 'plugins.metrics-by-endpoint.'

test('endpoints have their errors and rejections, sessions those that failed, and what is no time of either is left out', () => {
  const parts = partsOf(
    {
      counters: {
        'http.requests': 46,
        'vusers.failed': 3,
        [`${ENDPOINT}GET /profile.codes.200`]: 40,
        [`${ENDPOINT}GET /profile.codes.500`]: 4,
        [`${ENDPOINT}GET /profile.codes.503`]: 2,
        [`${ENDPOINT}PATCH /profile.codes.503`]: 9,
      },
      summaries: {
        'http.response_time': TIMES,
        [`${ENDPOINT}response_time.GET /profile`]: TIMES,
        'vusers.session_length': { ...TIMES, count: 8 },
      },
    },
    10
  )
  assert.deepEqual(
    parts.map(({ name, perSecond, p99Ms, errors, rejected }) => [name, perSecond, p99Ms, errors, rejected]),
    [
      ['GET /profile', 4, 80, 4, 2],
      ['whole session, with its pauses', 0.8, 80, 3, 0],
    ]
  )
})

test('an emit is a message until its acknowledgement, as artillery.yml waits for it', () => {
  const [{ name, count }] = partsOf({ summaries: { 'socketio.response_time': TIMES } }, 10)
  assert.deepEqual([name, count], ['message, until acknowledged', 40])
})
