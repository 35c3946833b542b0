'use strict'
// The two ways a user bounds or changes route labels, on a real app: `routes.max` and `routes.label`.

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const express = require('express')
const { countsOf } = require('../support/router-trees')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const ok = (_req, res) => res.end('ok')

async function serving(t, routes) {
  const spillway = spillwayFor(t, { routes })
  const app = express().set('env', 'test').use(spillway.express())
  for (const name of ['a', 'b', 'c', 'd']) app.all(`/${name}/:id`, ok)
  return { spillway, ...(await serve(t, app)) }
}

describe('routes.max', () => {
  it('folds only the route label of later routes, and counts the folded requests', async (t) => {
    const { spillway, get, request } = await serving(t, { max: 2 })
    for (const path of ['/a/1', '/b/1', '/c/1', '/nope', '/d/1', '/a/2', '/c/2']) await get(path)
    await request({ path: '/d/2', method: 'POST' })
    const snapshot = await ended(spillway, 8)
    assert.deepEqual(countsOf(snapshot), { '/a/:id': 2, '/b/:id': 1, '(other)': 4, '(unmatched)': 1 })
    assert.deepEqual(
      snapshot.routes.filter(({ route }) => route === '(other)').map(({ method }) => method),
      ['GET', 'POST']
    )
    assert.equal(snapshot.routesFolded, 4)
    assert.match((await get('/metrics')).body, /^spillway_routes_folded_total 4$/m)
  })

  it('takes the names of the user for the overflow and unmatched labels', async (t) => {
    const { spillway, get } = await serving(t, { max: 1, overflow: 'rest', unmatched: 'none' })
    for (const path of ['/a/1', '/b/1', '/nope']) await get(path)
    assert.deepEqual(countsOf(await ended(spillway, 3)), { '/a/:id': 1, rest: 1, none: 1 })
  })
})

describe('routes.label', () => {
  it('gets the request, the response as sent and the template, and names the route', async (t) => {
    const asked = []
    const { spillway, get } = await serving(t, {
      label(req, res, template) {
        asked.push([req.originalUrl, res.statusCode, template])
        return template === undefined ? undefined : `api${template}`
      },
    })
    await get('/a/1?x=1')
    await get('/nope')
    assert.deepEqual(countsOf(await ended(spillway, 2)), { 'api/a/:id': 1, '(unmatched)': 1 })
    assert.deepEqual(asked, [
      ['/a/1?x=1', 200, '/a/:id'],
      ['/nope', 404, undefined],
    ])
  })

  it('is bounded in number by routes.max, and in length to 256 characters', async (t) => {
    const { spillway, get } = await serving(t, {
      max: 3,
      label: (req) => `${req.path.repeat(100)}${'x'.repeat(300)}`,
    })
    for (let i = 0; i < 10; i++) await get(`/a/${i}`)
    const { routes, routesFolded } = await ended(spillway, 10)
    assert.equal(routes.length, 4)
    assert.ok(routes.every(({ route }) => route.length <= 256))
    assert.equal(routesFolded, 7)
  })

  it('that throws is counted once a request, and the template is kept', async (t) => {
    const { spillway, get } = await serving(t, {
      label() {
        throw new Error('mine')
      },
    })
    await get('/a/1')
    await get('/b/1')
    const snapshot = await ended(spillway, 2)
    assert.deepEqual(countsOf(snapshot), { '/a/:id': 1, '/b/:id': 1 })
    assert.deepEqual(snapshot.internalErrors, { 'routes.label': 2 })
  })

  for (const value of [undefined, null, '', 7, {}, ['x'], Symbol('x'), Promise.resolve('x')]) {
    it(`that returns ${typeof value === 'string' ? "''" : String(value)} leaves the template`, async (t) => {
      const { spillway, get } = await serving(t, { label: () => value })
      await get('/a/1')
      assert.deepEqual(countsOf(await ended(spillway, 1)), { '/a/:id': 1 })
    })
  }
})
