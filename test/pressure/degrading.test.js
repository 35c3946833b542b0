'use strict'
// Which requests get a cheaper answer: by class and by pressure.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Degrading } = require('../../src/features/pressure/degrading')
const { PRIORITIES } = require('../../src/core/gate/decision')

/** Requests by class, as the recorder finds them by their response. */
const responseOf = (priority) => {
  const req = { headers: {}, socket: {} }
  return { writeHead() {}, req, ticket: { priority: PRIORITIES.indexOf(priority) } }
}
const find = (res) => (res?.ticket === undefined ? undefined : res)
const onMistake = assert.fail

/** The share of a class that is degraded at a pressure, to two decimals. */
function shareOf(priority, pressure, degradeAt) {
  let next = 0
  const degrading = new Degrading({ degradeAt, find, onMistake, random: () => (next++ + 0.5) / 100 })
  const answers = Array.from({ length: 100 }, () => degrading.shouldDegrade(responseOf(priority), pressure))
  return answers.filter(Boolean).length / 100
}

for (const [priority, shares] of Object.entries({
  low: [0, 0.5, 1, 1, 1],
  normal: [0, 0, 0.5, 1, 1],
  high: [0, 0, 0, 0.67, 1],
  critical: [0, 0, 0, 0, 0],
  bypass: [0, 0, 0, 0, 0],
})) {
  test(`class ${priority} is degraded by pressure: ${shares.join(', ')}`, () => {
    assert.deepEqual(
      [0.5, 0.65, 0.85, 0.95, 1].map((pressure) => shareOf(priority, pressure)),
      shares
    )
  })
}

test('`pressure.degradeAt` moves a class, and leaves the others', () => {
  const degradeAt = { critical: 0.9, normal: 0.2, low: false, high: undefined }
  assert.equal(shareOf('normal', 0.3, degradeAt), 0.5)
  assert.equal(shareOf('critical', 0.95, degradeAt), 0.5)
  assert.equal(shareOf('low', 1, degradeAt), 0)
  assert.equal(shareOf('high', 0.85, degradeAt), 0)
  assert.equal(shareOf('normal', 1, { normal: 1 }), 1)
  assert.equal(shareOf('normal', 0, { normal: 0 }), 0)
})

test('all calls for one request agree, and it is counted once', () => {
  const random = [0.1, 0.9]
  const degrading = new Degrading({ degradeAt: undefined, find, onMistake, random: () => random.shift() })
  const [first, second] = [responseOf('normal'), responseOf('normal')]
  assert.deepEqual(
    [first, second, first, second, first].map((res) => degrading.shouldDegrade(res, 0.85)),
    [true, false, true, false, true]
  )
  assert.deepEqual(degrading.counts, [0, 0, 1, 0, 0])
})

test('a request keeps its answer when the pressure changes, and when it is given in another form', () => {
  const degrading = new Degrading({ degradeAt: undefined, find, onMistake, random: () => 0 })
  const [full, short] = [responseOf('normal'), responseOf('normal')]
  assert.deepEqual([degrading.shouldDegrade(full, 0), degrading.shouldDegrade(short, 1)], [false, true])
  for (const given of [full, full.req, { raw: full.req }])
    assert.equal(degrading.shouldDegrade(given, 1), false)
  for (const given of [short, short.req, { raw: short }])
    assert.equal(degrading.shouldDegrade(given, 0), true)
  assert.deepEqual(degrading.counts, [0, 0, 1, 0, 0])
})

test('a request that is not measured counts as class normal', () => {
  const degrading = new Degrading({ degradeAt: undefined, find, onMistake })
  assert.equal(degrading.shouldDegrade({ headers: {}, socket: {} }, 1), true)
  assert.deepEqual(degrading.counts, [0, 0, 1, 0, 0])
})

const circular = {}
circular.raw = circular
const throwing = Object.defineProperty({}, 'raw', {
  get() {
    throw new Error('a getter')
  },
})
for (const [name, given] of Object.entries({
  undefined: undefined,
  null: null,
  'a number': 7,
  'a string': '/orders',
  'an empty object': {},
  'a request of fetch': new Request('http://127.0.0.1/'),
  '{ raw: null }': { raw: null },
  '{ raw: {} }': { raw: {} },
  'a raw of its own': circular,
  'a getter that throws': throwing,
})) {
  test(`what is not a request is never degraded, and reported: ${name}`, () => {
    const reported = []
    const degrading = new Degrading({
      degradeAt: undefined,
      find,
      onMistake: ({ code }) => reported.push(code),
    })
    assert.deepEqual([degrading.shouldDegrade(given, 1), degrading.shouldDegrade(given, 1)], [false, false])
    assert.deepEqual(degrading.counts, [0, 0, 0, 0, 0])
    assert.deepEqual(reported, ['ERR_SPILLWAY_NOT_A_REQUEST', 'ERR_SPILLWAY_NOT_A_REQUEST'])
  })
}
