'use strict'
// An application that makes a router for each request, from what the request says: what is kept of them is
// bounded.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const v8 = require('node:v8')
const vm = require('node:vm')
const { METHODS } = require('../../src/core/request/methods')
const { RouteTable } = require('../../src/core/request/route-table')
const { templateOf } = require('../../src/core/route/template')
const { kRouteState } = require('../../src/core/route/route-state')
const { instrumentApp } = require('../../src/core/route/instrument-router')
const { requestWith } = require('../support/request')
const { EXPRESSES } = require('../support/router-trees')

v8.setFlagsFromString('--expose-gc')
const collectGarbage = vm.runInNewContext('gc')

const GET = METHODS.indexOf('GET')
/** What is bounded is full by then. */
const WARM = 10_000
const REQUESTS = 25_000
/** Each request would leave half a kilobyte. */
const MAX_GROWTH_BYTES = 1_500_000

function heapBytes() {
  collectGarbage()
  collectGarbage()
  return process.memoryUsage().heapUsed
}

for (const name of [EXPRESSES[5], EXPRESSES[4]]) {
  test(`the heap is level over ${REQUESTS} requests with a router each, with ${name}`, () => {
    const express = require(name)
    const app = express()
    app.use('/made', (req, res, next) => {
      const router = express.Router()
      router.get(req.url, (_req, { done }) => done())
      router(req, res, next)
    })
    instrumentApp(app)
    const router = app._router ?? app.router
    const table = new RouteTable({ max: 1000, overflow: '(other)', unmatched: '(unmatched)' })
    let labelled = 0
    const request = (i) => {
      const url = `/made/${i.toString(36)}`
      const req = { method: 'GET', url, originalUrl: url, baseUrl: '' }
      const state = requestWith({ req })
      const done = () => {
        const template = templateOf(state, 200)
        if (template === url) labelled++
        table.find(template, GET)
      }
      router.handle(req, { [kRouteState]: state, done, setHeader() {} }, assert.fail)
    }
    for (let i = 0; i < WARM; i++) request(i)
    const before = heapBytes()
    for (let i = WARM; i < REQUESTS; i++) request(i)
    const grown = heapBytes() - before
    assert.ok(grown < MAX_GROWTH_BYTES, `it has grown by ${grown} bytes`)
    assert.equal(labelled, REQUESTS)
    assert.ok(table.folded > 0)
  })
}
