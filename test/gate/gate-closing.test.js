'use strict'
// A listener or a function of the user's may close the instance in the middle of a batch of rejections.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { DrivenAdmission } = require('./driven-admission')

const SHED = { maxConcurrent: 1, maxDelay: 50, targetDelay: 50 }

for (const [what, closes] of Object.entries({
  'a listener of `overload`': (driven, close) => {
    driven.told.push = close
  },
  'the answer that the user gives': (driven, close) => driven.update({ ...SHED, respond: close }),
})) {
  test(`${what} may close the instance while requests that are too old are rejected`, () => {
    const driven = new DrivenAdmission(SHED)
    let closed = 0
    closes(driven, () => {
      if (closed++ === 0) driven.admission.close()
      return 0
    })
    driven.ask()
    const queued = [driven.ask(), driven.ask(), driven.ask()]
    for (let i = 0; i < 20; i++) driven.turn(10)
    assert.ok(closed > 0)
    assert.equal(driven.admission.sample().queued, 0)
    for (const { ticket } of queued) assert.equal(ticket.isRejected, true)
  })
}
