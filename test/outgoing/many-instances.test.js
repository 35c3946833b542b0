'use strict'
// Several instances in one process, as in tests or with plugins: all observe the same calls, and Node warns of
// a leak from eleven listeners on one emitter.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { it } = require('node:test')
const { serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')

const MANY = 12

const countOf = (spillway) =>
  spillway.snapshot().outgoing.hosts.reduce((sum, { sinceStart }) => sum + sinceStart.count, 0)

async function get(port, agent) {
  const request = http.get({ host: 'localhost', port, agent })
  const [response] = await once(request, 'response')
  const closed = once(response, 'close')
  response.resume()
  await closed
}

it('observe a call each, and add no more listeners than one', async (t) => {
  const warnings = []
  const onWarning = (warning) => warnings.push(warning.message)
  process.on('warning', onWarning)
  t.after(() => process.off('warning', onWarning))
  const spillways = Array.from({ length: MANY }, () => spillwayFor(t))
  const { port } = await serve(t, (_req, res) => res.end('answer'))
  const agent = new http.Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  await get(port, false)
  await get(port, agent)
  await get(port, agent)
  await (await fetch(`http://localhost:${port}/`)).text()
  // Warnings are emitted in the next tick.
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(warnings, [])
  for (const spillway of spillways) {
    const [{ host, sinceStart }] = spillway.snapshot().outgoing.hosts
    assert.deepEqual([host, sinceStart.count, sinceStart.errors], [`localhost:${port}`, 4, 0])
    assert.equal(sinceStart.connections, 3)
    assert.ok(sinceStart.connectMs > 0)
  }
})

it('go on observing a call when the first one is closed, and count none that began before them', async (t) => {
  const first = spillwayFor(t)
  const second = spillwayFor(t)
  let answer
  const { port } = await serve(t, (_req, res) => {
    res.write('a')
    answer = () => res.end('b')
  })
  const request = http.get({ host: 'localhost', port, agent: false })
  const [response] = await once(request, 'response')
  const third = spillwayFor(t)
  first.close()
  const closed = once(response, 'close')
  response.resume()
  answer()
  await closed
  assert.deepEqual([first, second, third].map(countOf), [0, 1, 0])
})
