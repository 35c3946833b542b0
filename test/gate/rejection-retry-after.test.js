'use strict'
// The seconds a client is told, by a random number given: their bounds, and that they spread with what is
// refused.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { RetryAfter } = require('../../src/core/gate/rejection')
const { DrivenAdmission } = require('./driven-admission')

const ALMOST_1 = 0.91
const times = (count, call) => {
  for (let i = 0; i < count; i++) call()
}

for (const [title, least, random, rejected, admitted, seconds] of [
  ['the least before anything was refused', 1, ALMOST_1, 0, 0, 1],
  ['the least at the luckiest, however much is refused', 1, 0, 10_000, 0, 1],
  ['up to nine more when nearly all is refused', 1, ALMOST_1, 10_000, 0, 10],
  ['half of that at half of it', 1, 0.55, 10_000, 0, 6],
  ['from the least given', 30, ALMOST_1, 10_000, 0, 39],
  ['from 0 where 0 is given', 0, 0, 10_000, 0, 0],
  ['the least again when all get in again', 1, ALMOST_1, 10_000, 1000, 1],
]) {
  test(`it is ${title}`, () => {
    const retryAfter = new RetryAfter(least, () => random)
    times(rejected, () => retryAfter.onReject())
    times(admitted, () => retryAfter.onAdmit())
    assert.equal(retryAfter.seconds(), seconds)
  })
}

test('an admission tells it of those that get in: after an overload the spread narrows again', (t) => {
  const random = t.mock.method(Math, 'random', () => ALMOST_1)
  const driven = new DrivenAdmission({ mode: 'threshold', maxConcurrent: 1 })
  const first = driven.ask()
  const secondsOfOne = () => {
    const request = driven.ask()
    driven.sendRejections()
    const { head } = request.answer
    return head[head.indexOf('Retry-After') + 1]
  }
  times(1000, () => driven.ask())
  assert.equal(secondsOfOne(), 10)
  driven.end(first)
  times(1000, () => driven.end(driven.ask()))
  random.mock.mockImplementation(() => 0.8)
  driven.ask()
  assert.equal(secondsOfOne(), 1)
})
