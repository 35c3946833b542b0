'use strict'
// The clients of a story, in a process of their own. A part of the load is a number of `connections`, each of
// which sends its next request when it has an answer (autocannon), or a `rate` of requests a second that come
// whatever the server does. The story sends { url, seconds, parts }; this answers with a line of progress a
// second, and with a report at the end.

const http = require('node:http')
const autocannon = require('autocannon')
const { KEPT_MS, receiveLoad } = require('./load-process')

const TICK_MS = 5
/**
 * Open before the load begins, as those of a proxy are: Node accepts one connection a turn of its event loop.
 */
const WARM_CONNECTIONS = 64
const USUAL_TIMEOUT_MS = 10_000
/** How long the last requests may take. */
const LAST_MS = 1000

const bodyOf = ({ body }) => (body === undefined || typeof body === 'string' ? body : JSON.stringify(body))
const headersOf = ({ body, headers = {} }) =>
  body === undefined ? headers : { 'content-type': 'application/json', ...headers }

/** A path with {n} in it is another path in each request. */
let count = 0
const pathOf = ({ path }) => path.replace('{n}', String(count++))

function closedLoop(url, part, recorder) {
  const { name, connections, method = 'GET', timeoutMs = USUAL_TIMEOUT_MS } = part
  const isNumbered = part.path.includes('{n}')
  const setupRequest = (request) => ({ ...request, path: pathOf(part) })
  const instance = autocannon({
    url,
    connections,
    duration: 86_400,
    timeout: timeoutMs / 1000,
    headers: headersOf(part),
    requests: [{ method, body: bodyOf(part), path: part.path, ...(isNumbered && { setupRequest }) }],
  })
  instance.on('response', (_client, status, _bytes, ms) => recorder.record(name, ms, status))
  instance.on('reqError', ({ message }) =>
    recorder.record(name, /timed out/.test(message) ? timeoutMs : 0, 0)
  )
  instance.catch(() => {})
  return () => instance.stop()
}

/** Spillway answers /livez itself, and counts it nowhere. */
async function warmAgent({ hostname, port }) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1024, timeout: KEPT_MS })
  const open = () =>
    new Promise((resolve) => {
      http
        .get({ agent, hostname, port, path: '/livez' }, (res) => res.resume().once('end', resolve))
        .once('error', resolve)
    })
  await Promise.all(Array.from({ length: WARM_CONNECTIONS }, open))
  return agent
}

function openLoop(url, part, recorder, agent) {
  const { name, rate, method = 'GET', timeoutMs = USUAL_TIMEOUT_MS } = part
  const { hostname, port } = new URL(url)
  const body = bodyOf(part)
  const headers = { ...headersOf(part), ...(body && { 'content-length': Buffer.byteLength(body) }) }
  /** When each of those in flight was due. */
  const dueAt = new Map()
  const send = (dueMs) => {
    const request = http.request({ agent, headers, hostname, method, path: pathOf(part), port }, (res) => {
      res.resume().once('end', () => end(res.statusCode))
    })
    const end = (status, why) => {
      clearTimeout(timer)
      if (dueAt.delete(request)) recorder.record(name, performance.now() - dueMs, status, why)
    }
    const timer = setTimeout(() => {
      end(0, 'timeout')
      request.destroy()
    }, timeoutMs)
    dueAt.set(request, dueMs)
    request.on('error', ({ code }) => end(0, code)).once('close', () => end(0))
    request.end(body)
  }
  const startedMs = performance.now()
  let sent = 0
  const ticks = setInterval(() => {
    const nowMs = performance.now()
    for (let dueMs; (dueMs = startedMs + (sent * 1000) / rate) <= nowMs; sent++) send(dueMs)
  }, TICK_MS)
  return async () => {
    clearInterval(ticks)
    const untilMs = performance.now() + LAST_MS
    while (dueAt.size > 0 && performance.now() < untilMs)
      await new Promise((resolve) => setTimeout(resolve, TICK_MS))
    // What has no answer by now is counted with its age.
    for (const request of [...dueAt.keys()]) request.destroy()
    await new Promise(setImmediate)
  }
}

async function start({ url, parts }, recorder) {
  const agent = parts.some(({ rate }) => rate) ? await warmAgent(new URL(url)) : undefined
  const loops = parts.map((part) => (part.rate ? openLoop : closedLoop)(url, part, recorder, agent))
  return () => Promise.all(loops.map((end) => end()))
}

receiveLoad(start, { namesOf: ({ parts }) => parts.map(({ name }) => name) })
