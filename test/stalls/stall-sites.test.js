'use strict'
// The table of stalls by site.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { MAX_SITES, StallSites } = require('../../src/features/stalls/stall-sites')

const stall = (given) => ({
  cause: /** @type {const} */ ('javascript'),
  function: 'hash',
  file: 'auth.js',
  begin: 40,
  line: 41,
  package: null,
  call: null,
  bodyBytes: null,
  frames: [`hash (auth.js:${given?.line ?? 41})`],
  origin: /** @type {const} */ ('request'),
  method: 'POST',
  route: '/login',
  ...given,
})

test('stalls of one function on one route are one site, which shows the line that was seen for longest, its call and the largest body', () => {
  const sites = new StallSites()
  sites.record(stall({ line: 42, call: 'JSON.parse', bodyBytes: 8e6 }), 100, 'a')
  sites.record(stall({ line: 43, call: 'fs.readFileSync' }), 200, 'b')
  sites.record(stall({ line: 43, call: 'fs.readFileSync' }), 100, 'b')
  sites.record(stall({ line: 44, call: 'fs.readFileSync' }), 10, 'b')
  const site = sites.record(stall({ line: 42 }), 150, 'c')
  assert.equal(sites.list().length, 1)
  assert.deepEqual(site, {
    cause: 'javascript',
    function: 'hash',
    file: 'auth.js',
    line: 43,
    package: null,
    call: 'fs.readFileSync',
    bodyBytes: 8e6,
    frames: ['hash (auth.js:43)'],
    origin: 'request',
    method: 'POST',
    route: '/login',
    count: 5,
    totalMs: 560,
    maxMs: 200,
    lastAt: 'c',
  })
})

test('a call is shown only if it was seen in more than half of the stalls', () => {
  const sites = new StallSites()
  const callAfter = (line, call, ms) => sites.record(stall({ line, call }), ms, 'a').call
  assert.equal(callAfter(12, 'JSON.stringify', 400), 'JSON.stringify')
  assert.equal(callAfter(9, null, 100), null)
  assert.equal(callAfter(12, 'JSON.stringify', 100), 'JSON.stringify')
  assert.equal(callAfter(10, null, 100), null)
})

test('the times of a line add up, so that two short ones outweigh one long', () => {
  const sites = new StallSites()
  sites.record(stall({ line: 42 }), 100, 'a')
  sites.record(stall({ line: 43 }), 150, 'b')
  assert.equal(sites.record(stall({ line: 42 }), 100, 'c').line, 42)
})

test('another route, cause or function is another site, and the costliest comes first', () => {
  const sites = new StallSites()
  sites.record(stall(), 100, 'a')
  sites.record(stall({ route: '/signup' }), 300, 'a')
  sites.record(stall({ cause: 'native' }), 200, 'a')
  sites.record(stall({ begin: 50 }), 50, 'a')
  assert.deepEqual(
    sites.list().map(({ totalMs }) => totalMs),
    [300, 200, 100, 50]
  )
})

test('a site that finds the table full takes the place of the least costly', () => {
  const sites = new StallSites()
  for (let i = 0; i < MAX_SITES; i++) sites.record(stall({ route: `/${i}` }), 1000 + i, 'a')
  sites.record(stall({ route: '/new' }), 100, 'a')
  const routes = sites.list().map(({ route }) => route)
  assert.equal(routes.length, MAX_SITES)
  assert.ok(routes.includes('/new') && routes.includes('/1') && !routes.includes('/0'))
})
