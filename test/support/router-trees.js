'use strict'
// Serves the router trees of test/route/trees in every Express and in every way spillway can be put in, and
// tells for each request the label it was recorded under. The label is taken from `routes.label`, which is
// called once a request, so that a test waits for an event and not for time; what was counted is compared at
// the end.

const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const http = require('node:http')
const { serve } = require('./serve')
const { spillwayFor } = require('./spillway')

const UNMATCHED = '(unmatched)'

/** By the name a case uses: the major version of Express, or of router where that is what differs. */
const EXPRESSES = { 5: 'express', 2.2: 'express-router-2.2', 4: 'express-4' }

const MODES = {
  'express()': (spillway, app) => ({ listener: app, install: () => app.use(spillway.express()) }),
  'attach(server)': (spillway, app) => ({ listener: spillway.attach(http.createServer(app)), install() {} }),
  'wrap(app)': (spillway, app) => ({ listener: spillway.wrap(app), install() {} }),
}

/** How each version writes what their paths differ in. */
const SPELLINGS = {
  4: { splat: (path) => path.replace(/\*\w+/g, '*'), optional: (path, name) => `${path}/:${name}?` },
  5: { splat: (path) => path, optional: (path, name) => `${path}{/:${name}}` },
}

/** A case of an Express tree, see test/route/trees. */
async function runCase(t, { version, mode, of, onLabel }) {
  const express = require(EXPRESSES[version])
  const { spillway, labels } = labelledSpillway(t, onLabel)
  const app = express()
  app.set('env', 'test')
  const { listener, install } = MODES[mode](spillway, app)
  install()
  of.build(app, express, {
    ...SPELLINGS[version === '4' ? 4 : 5],
    other: require(EXPRESSES[version === '4' ? 5 : 4]),
  })
  const { port } = await serve(t, listener)
  await checkRequests(t, { spillway, labels, app, port, of, version })
}

/**
 * A spillway that emits each label it gives as a `label` event.
 * @param {import('node:test').TestContext} t
 * @param {(seen: { template: string | undefined, req: any, res: any }) => void} [onLabel]
 */
function labelledSpillway(t, onLabel = () => {}) {
  const labels = new EventEmitter()
  const label = (req, res, template) => {
    onLabel({ template, req, res })
    labels.emit('label', template ?? UNMATCHED)
  }
  return { labels, spillway: spillwayFor(t, { routes: { label } }) }
}

/**
 * Sends the requests of a case one after the other, and compares each status and label, and what was counted
 * in all.
 */
async function checkRequests(t, { spillway, labels, app, port, of, version }) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const expected = {}
  const left = of.not?.[version] ?? []
  const byVersion = (value) => (typeof value === 'object' ? (value[version] ?? value.other) : value)
  for (const [target, ...wanted] of of.requests) {
    if (left.includes(target)) continue
    const [status, label] = wanted.map(byVersion)
    const [answered, [seen]] = await Promise.all([ask({ app, port, agent, target }), once(labels, 'label')])
    assert.deepEqual({ status: answered, label: seen }, { status, label }, target)
    expected[label] = (expected[label] ?? 0) + 1
  }
  const snapshot = spillway.snapshot()
  assert.deepEqual(countsOf(snapshot), expected)
  assert.equal(snapshot.requests.inFlight, 0)
  assert.deepEqual(snapshot.internalErrors, {})
}

/** Requests by label, all methods together. */
function countsOf({ routes }) {
  const counts = {}
  for (const { route, outcomes } of routes) {
    counts[route] = (counts[route] ?? 0) + Object.values(outcomes).reduce((sum, n) => sum + n, 0)
  }
  return counts
}

/**
 * @returns {Promise<number | 'aborted' | 'cut off'>} the status; `ABORT /path` leaves when the app emits
 *   `hang`
 */
async function ask({ app, port, agent, target }) {
  const [verb, path] = target.split(' ')
  const method = verb === 'ABORT' ? 'GET' : verb
  const req = http.request({ host: '127.0.0.1', port, agent, method, path })
  if (verb === 'ABORT') {
    app.once('hang', () => req.destroy())
    req.on('error', () => {})
    req.end()
    await new Promise((resolve) => req.once('close', resolve))
    return 'aborted'
  }
  req.end()
  const [res] = await once(req, 'response').catch(() => [])
  if (res === undefined) return 'cut off'
  res.on('error', () => {}).resume()
  await once(res, 'close')
  return res.statusCode
}

module.exports = { EXPRESSES, MODES, UNMATCHED, checkRequests, countsOf, labelledSpillway, runCase }
