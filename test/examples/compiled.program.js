'use strict'
// The examples in TypeScript, compiled as their first line says and started: they answer, and name their
// routes.

const { describe, test } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const path = require('node:path')
const { promisify } = require('node:util')
const { startExample } = require('./example-process')

const run = promisify(execFile)
const ROOT = path.join(__dirname, '..', '..')
const TSC = path.join(ROOT, 'node_modules', '.bin', 'tsc')

async function started(t, folder, file) {
  await run(TSC, ['-p', path.join('examples', folder)], { cwd: ROOT })
  const example = startExample(t, path.join(folder, 'dist', file))
  return { example, url: await example.url() }
}

/** The server counts an answer a moment after the client has it. */
async function metricsWith(url, line) {
  for (;;) {
    const metrics = await (await fetch(`${url}/metrics`)).text()
    if (metrics.includes(line)) return metrics
  }
}

const counted = (route, status) =>
  `http_server_request_duration_seconds_count{http_request_method="GET",http_route="${route}",http_response_status_code="${status}",url_scheme="http"} 1\n`

describe('an example in TypeScript', () => {
  test('typescript/server.ts compiles, answers and leaves with 0 on SIGTERM', async (t) => {
    const { example, url } = await started(t, 'typescript', 'server.js')
    assert.deepEqual(await (await fetch(`${url}/users/7`)).json(), { id: '7' })
    await metricsWith(url, counted('/users/:id', 200))
    example.child.kill('SIGTERM')
    const { code, stderr } = await example.closed
    assert.deepEqual([code, stderr], [0, ''])
  })

  test('nest/main.ts counts routes by their templates and errors once, and leaves by itself', async (t) => {
    const { example, url } = await started(t, 'nest', 'main.js')
    assert.deepEqual(await (await fetch(`${url}/users/7`)).json(), { id: '7' })
    const missing = await fetch(`${url}/users/0`)
    assert.equal(missing.status, 404)
    assert.equal(missing.headers.get('content-type'), 'application/problem+json')
    assert.equal((await missing.json()).detail, 'There is no user 0.')
    assert.equal((await fetch(`${url}/nothing`)).status, 404)

    await metricsWith(url, counted('(unmatched)', 404))
    const metrics = await metricsWith(url, counted('/users/:id', 404))
    assert.ok(metrics.includes(counted('/users/:id', 200)), metrics)
    assert.match(
      metrics,
      /spillway_errors_total\{http_route="\/users\/:id",http_response_status_code="404",error_type="NotFoundException"\} 1\n/
    )

    example.child.kill('SIGTERM')
    const { code } = await example.closed
    assert.equal(code, 0)
  })
})
