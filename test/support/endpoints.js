'use strict'
// What every adapter promises of the endpoints, checked through whichever one `start` serves.

const assert = require('node:assert/strict')
const { it } = require('node:test')
const { spillwayFor } = require('./spillway')

const MISSED = 'not an endpoint'

/**
 * @param {(t: import('node:test').TestContext, spillway: any, answer: (req: any,
 *   res: any) => void) => Promise<{ get: Function, request: Function }>} start serves an application that
 *   answers everything it gets with `answer`
 */
function promisesEndpoints(start) {
  const answer = (_req, res) => {
    res.statusCode = 418
    res.end(MISSED)
  }
  const serving = (t, endpoints) => {
    const spillway = spillwayFor(t, { endpoints })
    return start(t, spillway, answer).then((client) => ({ ...client, spillway }))
  }

  it('serves /metrics, /livez and /readyz, with any query string, and counts none of it', async (t) => {
    const { get, spillway } = await serving(t)
    for (const query of ['', '?', '?name[]=x&y=/z']) {
      const metrics = await get(`/metrics${query}`)
      assert.equal(metrics.status, 200)
      assert.match(metrics.headers['content-type'], /^text\/plain; version=0\.0\.4/)
      assert.equal(metrics.headers['cache-control'], 'no-store')
      assert.match(metrics.body, /^# TYPE http_server_request_duration_seconds histogram$/m)
      for (const path of ['/livez', '/readyz']) {
        const { status, headers, body } = await get(path + query)
        assert.deepEqual([status, JSON.parse(body)], [200, { status: 'ok' }], path)
        assert.match(headers['content-type'], /^application\/json/)
        assert.equal(headers['cache-control'], 'no-store')
      }
    }
    const { routes, requests } = spillway.snapshot()
    assert.deepEqual([routes, requests.inFlight, requests.sinceStart.count], [[], 0, 0])
  })

  it('answers HEAD without a body, and every other method with 405 and Allow', async (t) => {
    const { request, spillway } = await serving(t)
    for (const path of ['/metrics', '/livez', '/readyz']) {
      const head = await request({ path, method: 'HEAD' })
      assert.deepEqual([head.status, head.body, head.headers['cache-control']], [200, '', 'no-store'], path)
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
        const { status, headers, body } = await request({ path, method })
        assert.deepEqual(
          [status, headers.allow, headers['cache-control'], body],
          [405, 'GET, HEAD', 'no-store', ''],
          `${method} ${path}`
        )
      }
    }
    assert.deepEqual(spillway.snapshot().routes, [])
  })

  it('leaves what only looks like an endpoint to the application', async (t) => {
    const { get } = await serving(t)
    for (const path of [
      '/',
      '/metrics/',
      '/metricsx',
      '/METRICS',
      '/metric',
      '/m',
      '/x/metrics',
      '/livez%20',
      '/?/metrics',
    ]) {
      assert.equal((await get(path)).body, MISSED, path)
    }
  })

  it('has a path of your own for each, or none', async (t) => {
    const { get } = await serving(t, { metrics: '/-/own/metrics', live: false })
    assert.match((await get('/-/own/metrics')).body, /^# TYPE /m)
    assert.equal((await get('/readyz')).status, 200)
    assert.equal((await get('/livez')).body, MISSED)
    assert.equal((await get('/metrics')).body, MISSED)
  })

  it('has no endpoint if all are off', async (t) => {
    const { get } = await serving(t, { metrics: false, live: false, ready: false })
    for (const path of ['/metrics', '/livez', '/readyz']) assert.equal((await get(path)).body, MISSED, path)
  })
}

module.exports = { promisesEndpoints }
