'use strict'
// The label `error_type` and the scheme of the durations: a request that ended in an error does not share a
// series with those of the same status that were answered in full.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const https = require('node:https')
const net = require('node:net')
const { test } = require('node:test')
const { parse } = require('../support/metrics-text')
const psk = require('../support/pre-shared-key')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

/** Counts of the durations by status, type of error and scheme. */
async function durations(spillway, t) {
  const { get } = await serve(t, (req, res) => spillway.handler('metrics')(req, res))
  const { samples } = parse((await get('/metrics')).body).get('http_server_request_duration_seconds')
  return samples
    .filter(({ name }) => name.endsWith('_count'))
    .map(({ labels: { http_response_status_code, error_type, url_scheme }, value }) => [
      http_response_status_code,
      error_type,
      url_scheme,
      value,
    ])
}

/** Sends a request and disconnects once the server has begun, or once an answer has. */
async function leave(port, path, begun) {
  const socket = net.connect(port, '127.0.0.1')
  socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`)
  await (begun === undefined ? once(socket, 'data') : begun)
  socket.destroy()
}

test('an error has its type: a status, aborted, cut_off or timeout', async (t) => {
  const spillway = spillwayFor(t, { errors: { timeout: 20 } })
  let onBegin = () => {}
  const begun = new Promise((resolve) => (onBegin = resolve))
  const { get, port } = await serve(
    t,
    spillway.wrap((req, res) => {
      if (req.url === '/ok') res.end('ok')
      if (req.url === '/down') res.writeHead(502).end()
      if (req.url === '/cut') res.write('half', () => res.destroy())
      if (req.url === '/half') res.write('half')
      if (req.url === '/none') onBegin()
    })
  )
  await get('/ok')
  await get('/down')
  await assert.rejects(get('/cut'))
  await leave(port, '/half')
  await get('/late')
  await ended(spillway, 5)
  await leave(port, '/none', begun)
  await ended(spillway, 6)
  assert.deepEqual(await durations(spillway, t), [
    ['200', undefined, 'http', 1],
    ['502', '502', 'http', 1],
    ['200', 'cut_off', 'http', 1],
    ['200', 'aborted', 'http', 1],
    ['503', 'timeout', 'http', 1],
    ['', 'aborted', 'http', 1],
  ])
})

test('a route that is asked for by both schemes has a series for each', async (t) => {
  const spillway = spillwayFor(t)
  const handler = spillway.wrap((_req, res) => res.end())
  const plain = await serve(t, handler)
  const secure = await serve(t, https.createServer(psk.SERVER, handler))
  await plain.get('/')
  const request = https.get({ host: '127.0.0.1', port: secure.port, agent: false, ...psk.CLIENT })
  const [response] = await once(request, 'response')
  await once(response.resume(), 'end')
  await plain.get('/')
  await ended(spillway, 3)
  assert.deepEqual(await durations(spillway, t), [
    ['200', undefined, 'http', 2],
    ['200', undefined, 'https', 1],
  ])
})
