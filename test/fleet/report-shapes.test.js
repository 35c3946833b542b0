'use strict'
// What a report of ours has is never of another shape: a family that its own check rejects would make every
// worker unreadable.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ownMetrics } = require('../../src/features/fleet/reports/metric-names')
const { acrossOf } = require('../../src/features/fleet/reports/point-shapes')
const { requireFamily } = require('../../src/features/fleet/reports/report-shapes')
const { LAG_FAMILIES, NATIVE_FAMILIES, STANDARD_FAMILIES } = require('../../src/core/metrics/families')
const { FAMILIES } = require('../support/families')

const ALL = [...FAMILIES, ...NATIVE_FAMILIES, ...STANDARD_FAMILIES, ...LAG_FAMILIES]
const { types } = ownMetrics({ adopted: (families) => families }, FAMILIES)

for (const family of ALL) {
  test(`a report may have ${family.name}, and of no other type`, () => {
    const said = { ...family, across: acrossOf(family), isForeign: false, bounds: family.bounds?.seconds }
    requireFamily(said, types)
    const type = family.type === 'gauge' ? 'summary' : 'gauge'
    assert.throws(() => requireFamily({ ...said, type }, types), TypeError)
  })
}
