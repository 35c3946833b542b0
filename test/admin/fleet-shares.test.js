'use strict'
// The shares of a fleet's last minute: who gave up, and who was rejected.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { FleetShares } = require('../../src/features/admin/fleet-shares')

/** So many requests since the start, and rejected ones. */
const fleetWith = ({ count = 0, shed = 0, lastMinute = 10, gaveUp = [{ lastMinute: 0 }] }) =>
  /** @type {any} */ ({
    requests: { lastMinute: { count: lastMinute }, sinceStart: { count } },
    shed,
    routes: gaveUp.map((each) => ({ gaveUp: each })),
  })

test('rejected requests are those between the readings of the last minute', () => {
  const shares = new FleetShares()
  const shedAt = (seconds, count, shed) => shares.take(fleetWith({ count, shed }), seconds * 1000).shedRatio
  assert.equal(shedAt(0, 1000, 900), null)
  assert.equal(shedAt(5, 1030, 910), 0.25)
  assert.equal(shedAt(60, 1090, 910), 0.1)
  assert.equal(shedAt(64, 1090, 910), 0)
  assert.equal(shedAt(200, 2000, 990), null)
  assert.equal(shedAt(205, 2000, 990), null)
})

test('a worker whose report can no longer be read begins the minute anew', () => {
  const shares = new FleetShares()
  const shedAt = (seconds, count, shed) => shares.take(fleetWith({ count, shed }), seconds * 1000).shedRatio
  shedAt(0, 1000, 900)
  assert.equal(shedAt(5, 500, 900), null)
  assert.equal(shedAt(10, 600, 800), null)
  assert.equal(shedAt(15, 690, 810), 0.1)
})

test('clients that gave up are a share of the requests, if parts are measured', () => {
  const gaveUpOf = (given) => new FleetShares().take(fleetWith(given), 0).gaveUpRatio
  assert.equal(gaveUpOf({ gaveUp: [{ lastMinute: 2 }, { lastMinute: 1 }] }), 0.3)
  assert.equal(gaveUpOf({ gaveUp: [{ lastMinute: 20 }] }), 1)
  assert.equal(gaveUpOf({ gaveUp: [{ lastMinute: 2 }, null] }), null)
  assert.equal(gaveUpOf({ lastMinute: 0 }), null)
})
