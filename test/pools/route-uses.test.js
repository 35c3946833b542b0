'use strict'
// How many requests are expected to ask a pool, from admission records whose times the test sets.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Coming, RouteUses } = require('../../src/pools/route-uses')
const { AdmissionRecord } = require('../../src/requests/admission-record')

function build() {
  const uses = new RouteUses('other')
  const route = uses.findOrAdd('GET', '/db')
  const come = () => {
    const admission = new AdmissionRecord()
    const coming = new Coming({}, route, admission)
    return { admission, coming }
  }
  return { come, comingAt: (nowMs) => uses.comingWithin(0, nowMs) }
}

test('a request is expected for as long as the gate queues it, and for 100 ms after', () => {
  const { come, comingAt } = build()
  const { admission } = come()
  assert.equal(comingAt(10_000), 1)
  admission.onAdmit(10_000, 0)
  assert.equal(comingAt(10_099), 1)
  assert.equal(comingAt(10_100), 0)
})

test('a request that has asked, or was rejected, is not expected any more', () => {
  const { come, comingAt } = build()
  const first = come()
  const second = come()
  first.admission.onAdmit(0, 0)
  first.coming.arrive(5)
  assert.equal(comingAt(5), 1)
  second.coming.leave()
  assert.equal(comingAt(5), 0)
})
