'use strict'
// The story of accounts behind five connections: the pool and the route that holds it, the driver and the
// logger by package, and the releases. It needs a Postgres: of the PATH, of Debian, or from npm.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { hasPostgres } = require('../../bench/healthy/postgres')
const { told } = require('./told')

const skip = hasPostgres() ? false : 'no Postgres: npm ci --prefix examples/stories/auth/postgres'

test('auth: the pool db, GET /profile that holds it, pg and morgan, and the release before are named', {
  skip,
}, async () => {
  const [small, large, lean] = (await told('auth')).runs

  const finding = small.found.find(({ problem }) => problem === 'pool-exhausted')
  assert.match(finding.summary, /wait for a connection of the pool 'db' .*: it has 5 connections\. /)
  assert.equal(finding.route, 'GET /profile')

  const names = large.extra.packages.map(({ name }) => name)
  assert.ok(names.includes('pg') && names.includes('pg-protocol'), names.join())
  assert.ok(lean.extra.packages.every(({ name }) => name !== 'morgan'))

  assert.deepEqual(
    [large, lean].map(({ extra: { releases } }) => [releases.previous.version, releases.current.version]),
    [
      ['1.0.0', '1.1.0'],
      ['1.1.0', '1.2.0'],
    ]
  )
  for (const { extra } of [large, lean]) assert.match(extra.said.releases, /^p99 of GET \/profile is /)
  for (const { parts } of [small, large, lean])
    assert.ok(parts.some(({ name, count }) => name === 'GET /profile' && count > 0))
})
