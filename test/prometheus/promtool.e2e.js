'use strict'
// `promtool check metrics` over what /metrics serves. Of our own families there is no finding; prom-client's
// default metrics have some of their own (nodejs_active_handles_total, nodejs_active_requests_total and
// nodejs_active_resources_total are gauges), which are left out here by name.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { test } = require('node:test')
const express = require('express')
const { FAMILIES } = require('../support/families')
const { serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')

test('promtool has no finding on our families', async (t) => {
  const spillway = spillwayFor(t)
  const app = express()
  app.use(spillway.express())
  app.get('/users/:id', (req, res) => res.json({ id: req.params.id }))
  app.get('/odd"\\label', (_req, res) => res.end())
  const { get } = await serve(t, app)
  for (const path of ['/users/1', '/nowhere', '/odd"\\label']) await get(encodeURI(path))
  const { body } = await get('/metrics')
  const ours = FAMILIES.map(({ name }) => name)
  const lines = body.split('\n').filter((line) => {
    const name = line.startsWith('#') ? line.split(' ')[2] : line.split(/[{ ]/)[0]
    return ours.some((family) => name === family || name?.replace(/_(bucket|sum|count)$/, '') === family)
  })
  assert.ok(lines.length > 100)
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: `${lines.join('\n')}\n`,
    encoding: 'utf8',
  })
  assert.equal(`${stdout}${stderr}`, '')
  assert.equal(status, 0)
})
