'use strict'
// Which requests get a cheaper answer: by class and by pressure.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Degrading } = require('../../src/features/pressure/degrading')
const { PRIORITIES } = require('../../src/core/gate/verdict')

/** Requests by class, as the recorder finds them by their response. */
const responseOf = (priority) => ({ writeHead() {}, ticket: { priority: PRIORITIES.indexOf(priority) } })
const find = (res) => (res?.ticket === undefined ? undefined : res)

/** The share of a class that is degraded at a pressure, to two decimals. */
function shareOf(priority, pressure, degradeAt) {
  let next = 0
  const degrading = new Degrading({ degradeAt, find, random: () => (next++ + 0.5) / 100 })
  const answers = Array.from({ length: 100 }, () => degrading.decide(responseOf(priority), pressure))
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
  const degrading = new Degrading({ degradeAt: undefined, find, random: () => random.shift() })
  const [first, second] = [responseOf('normal'), responseOf('normal')]
  assert.deepEqual(
    [first, second, first, second, first].map((res) => degrading.decide(res, 0.85)),
    [true, false, true, false, true]
  )
  assert.deepEqual(degrading.counts, [0, 0, 1, 0, 0])
})

test('what is not a request, or not known, counts as class normal', () => {
  for (const given of [undefined, null, 7, {}, { headers: {} }, { socket: null }, { raw: {} }])
    assert.equal(new Degrading({ degradeAt: undefined, find }).decide(given, 1), true)
})
