'use strict'
// `npm run bench -- services`: each service answers its load, and each variant sees the requests of the
// service that it measures.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { measure } = require('../../bench/services/measure')
const { SERVICES } = require('../../bench/services/services')
const { VARIANTS } = require('../../bench/services/variants')
const { dependencies } = require('../../bench/peers/package.json')
const { hasPeer } = require('../../bench/support/peers')

/** The services that stand for their framework where all variants are tried. */
const OF_FRAMEWORK = ['graphql', 'koa-session']
/** All of them: some are found in the project's own node_modules too. */
const hasPeers = Object.keys(dependencies).every(hasPeer)
const skip = hasPeers ? false : 'npm ci --prefix bench/peers'

for (const service of Object.values(SERVICES)) {
  test(`the service '${service.name}' answers, and its variants see it`, { skip }, async (t) => {
    const beside = await service.prepare?.()
    if (service.prepare !== undefined && beside === undefined) return t.skip(service.needs)
    t.after(() => beside?.stop())
    for (const name of OF_FRAMEWORK.includes(service.name) ? VARIANTS : ['spillway']) {
      const run = { variant: { name }, given: beside?.given, warmUpSeconds: 0, seconds: 1 }
      // It throws if nothing was answered, or the variant has seen nothing.
      const { failed, unitMicroseconds } = await measure(service, run)
      assert.equal(failed, 0, name)
      assert.ok(unitMicroseconds > 0, name)
    }
  })
}
