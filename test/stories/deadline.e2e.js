'use strict'
// The story of a slow database behind nginx: without the features most of the database's time is for nobody,
// and the doctor says so; with them the limit rejects, and the catalogue stays up. It needs nginx and a
// Postgres.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { missingFor } = require('../../bench/gateways/proxies')
const { hasPostgres } = require('../../bench/healthy/postgres')
const { told } = require('./told')

// It takes over a minute, so CI leaves it out: STORY_DEADLINE=1 npm run test:stories
const skip =
  (process.env.STORY_DEADLINE === undefined ? 'STORY_DEADLINE is not set' : undefined) ??
  missingFor('nginx') ??
  (hasPostgres() ? false : 'no Postgres: npm ci --prefix examples/stories/auth/postgres')
/** On a machine that other programs use, cancels come late: there it only has to be less. */
const FIFTH = 0.2

const wastedShare = ({ work: { database } }) => database.wastedMs / database.totalMs

test('deadline: work for clients that left is named, and cut by four fifths', { skip }, async () => {
  const [without, fixed] = (await told('deadline')).runs

  const { left, badGateway, gatewayTimeout, rejected } = without.counts
  assert.ok(left + badGateway + gatewayTimeout > 0)
  assert.equal(rejected, 0)
  const finding = without.found.find(({ problem }) => problem === 'work-after-disconnect')
  assert.equal(finding.route, 'GET /orders/:user')

  assert.ok(fixed.counts.rejected > 0)
  const isStarved = [without, fixed].some(({ found }) =>
    found.some(({ problem }) => problem === 'host-starved')
  )
  const most = (isStarved ? 1 : FIFTH) * wastedShare(without)
  assert.ok(wastedShare(fixed) < most, `${wastedShare(fixed)} of ${wastedShare(without)}`)
})
