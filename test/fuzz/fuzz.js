'use strict'
// Sends malformed cases to Express 5 servers, with the gate and without, and to an HTTP/2 server, some at a
// time, and says what is left when all have been: in flight, connections, listeners, and what was counted
// against what was seen.

require('../support/checked-transitions')
const { once } = require('node:events')
const http = require('node:http')
const http2 = require('node:http2')
const net = require('node:net')
const express = require('express')
const { randomFrom } = require('../../bench/support/random')
const { createSpillway } = require('../../src/index.js')
const { caseOf } = require('./malformed')

const AT_ONCE = 32
const TIMEOUT_MS = 300
const SOUND_EVERY = 50
const SOUND = 'GET /ok HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
const CLIENT_ERRORS = ['clientError', 'sessionError']
/** A client that resets its connection has sent nothing wrong. */
const HAS_LEFT = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT']
const REQUESTS = ['request', 'checkContinue', 'checkExpectation']
const WATCHED_EVENTS = [
  'request',
  'connection',
  'clientError',
  'upgrade',
  'connect',
  'checkContinue',
  'close',
  'error',
]

const turn = () => new Promise((resolve) => setImmediate(resolve))
const sumOf = (counts) => Object.values(counts).reduce((sum, count) => sum + count, 0)

/** Hears what goes by without listening, which would turn Node's own answers off. */
function hear(server, note) {
  const { emit } = server
  server.emit = function (event, ...given) {
    note(event, ...given)
    return emit.call(this, event, ...given)
  }
}

function countClientErrors(server) {
  const heard = { count: 0 }
  hear(server, (event, error) => {
    if (CLIENT_ERRORS.includes(event) && !HAS_LEFT.includes(error?.code)) heard.count++
  })
  return heard
}

/** Once each: who asks before sending a body comes by two events. */
function countRequests(server) {
  const started = { count: 0 }
  const seen = new WeakSet()
  hear(server, (event, _req, res) => {
    if (!REQUESTS.includes(event) || seen.has(res)) return
    seen.add(res)
    started.count++
  })
  return started
}

function applicationOf(spillway, entered) {
  const app = express().set('env', 'test').disable('x-powered-by')
  app.use((_req, _res, next) => {
    entered.count++
    next()
  })
  app.get('/ok', (_req, res) => void res.send('ok'))
  app.get('/echo', (req, res) => void res.set('X-Echo', String(req.query.value)).send('echo'))
  app.post('/json', express.json(), (req, res) => void res.json(req.body ?? null))
  app.post('/upload', (req, res) => void req.on('end', () => res.send('got')).resume())
  app.get('/never', () => {})
  app.use(spillway.errorHandler())
  return app
}

class Target {
  entered = { count: 0 }
  #listeners

  static async open(create, mode) {
    const target = new Target()
    target.spillway = createSpillway({ logger: false, shed: { mode }, errors: { timeout: TIMEOUT_MS } })
    target.server = create(target.spillway, target.entered)
    target.heard = countClientErrors(target.server)
    target.spillway.attach(target.server)
    target.started = countRequests(target.server)
    target.server.listen(0, '127.0.0.1')
    await once(target.server, 'listening')
    target.port = target.server.address().port
    target.#listeners = target.#listenerCounts()
    return target
  }

  #listenerCounts() {
    return WATCHED_EVENTS.map((event) => this.server.listenerCount(event)).join(' ')
  }

  async settle() {
    for (let i = 0; i < 10_000; i++) {
      const { requests } = this.spillway.snapshot()
      if (requests.inFlight === 0 && (await this.connections()) === 0) return
      await turn()
    }
  }

  connections() {
    return new Promise((resolve) => this.server.getConnections((_error, count) => resolve(count)))
  }

  async report() {
    const { requests, routes, admission, clientErrors, internalErrors, oldest } = this.spillway.snapshot()
    const outcomes = {}
    for (const route of routes) {
      for (const [name, count] of Object.entries(route.outcomes))
        outcomes[name] = (outcomes[name] ?? 0) + count
    }
    return {
      inFlight: requests.inFlight + admission.inFlight + admission.queued + oldest.length,
      connections: await this.connections(),
      areListenersKept: this.#listenerCounts() === this.#listeners,
      outcomes,
      shed: sumOf(admission.shed.map(({ count }) => count)),
      abandoned: admission.abandoned,
      ended: sumOf(outcomes) - (outcomes.upgraded ?? 0),
      entered: this.entered.count,
      started: this.started.count,
      clientErrors,
      clientErrorsCounted: sumOf(clientErrors),
      clientErrorsHeard: this.heard.count,
      internalErrors,
    }
  }

  async close() {
    this.server.close()
    this.server.closeAllConnections?.()
    await once(this.server, 'close')
    this.spillway.close()
  }
}

function httpServer(spillway, entered) {
  const options = {
    keepAliveTimeout: TIMEOUT_MS,
    headersTimeout: TIMEOUT_MS,
    requestTimeout: TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_MS / 3,
  }
  const server = http.createServer(options, applicationOf(spillway, entered))
  server.on('upgrade', (_req, socket) => void socket.on('error', () => {}).end('HTTP/1.1 426 No\r\n\r\n'))
  return server
}

function http2Server(_spillway, entered) {
  const server = http2.createServer((_req, res) => {
    entered.count++
    res.end('ok')
  })
  server.on('session', (session) => session.setTimeout(TIMEOUT_MS, () => session.destroy()))
  return server
}

/**
 * A machine that stands still for longer than the server's timeouts has it answer 408, which says nothing of
 * us.
 */
async function sendSound(port) {
  const said = await send(port, { pieces: [SOUND], ending: 'patient' })
  return said.startsWith('HTTP/1.1 408 ') ? sendSound(port) : said
}

/** @returns {Promise<string>} everything the server said */
async function send(port, { pieces, ending }) {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: ending === 'patient' })
  let said = ''
  socket.setEncoding('latin1').on('data', (text) => (said += text))
  socket.on('error', () => {})
  const closed = new Promise((resolve) => socket.on('close', resolve))
  await once(socket, 'connect')
  for (const piece of pieces) {
    socket.write(piece)
    await turn()
  }
  if (ending === 'fin') socket.end()
  else if (ending === 'destroy') socket.destroy()
  else if (ending === 'reset') socket.resetAndDestroy()
  else socket.on('end', () => socket.end())
  await closed
  return said
}

/**
 * @param {{ cases: number, seed: number, onCase?: (index: number) => void }} what
 * @returns {Promise<{ problems: string[], kinds: Record<string, number>, targets: Record<string, any> }>}
 */
async function fuzz({ cases, seed, onCase = () => {} }) {
  const targets = {
    http: await Target.open(httpServer, 'off'),
    gated: await Target.open(httpServer, 'adaptive'),
    http2: await Target.open(http2Server, 'adaptive'),
  }
  const problems = []
  const kinds = {}
  let next = 0
  const work = async () => {
    for (let index = next++; index < cases; index = next++) {
      const one = caseOf(randomFrom(Math.imul(seed, 0x9e3779b1) + index))
      kinds[one.kind] = (kinds[one.kind] ?? 0) + 1
      onCase(index)
      const target = one.isHttp2 ? targets.http2 : index % 2 === 0 ? targets.http : targets.gated
      const said = await send(target.port, one)
      if (/^(Injected|Set-Cookie):/im.test(said)) problems.push(`case ${index}: a header was injected`)
      if (index % SOUND_EVERY !== 0) continue
      const sound = await sendSound(targets.http.port)
      if (!sound.startsWith('HTTP/1.1 200 ')) problems.push(`after case ${index}: ${sound.slice(0, 100)}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const reports = {}
  for (const [name, target] of Object.entries(targets)) {
    await target.settle()
    reports[name] = await target.report()
    problems.push(...problemsOf(name, reports[name]))
    await target.close()
  }
  // Of a few random cases, none may be an error of a client of HTTP/2.
  if (Object.values(reports).every(({ clientErrorsHeard }) => clientErrorsHeard === 0))
    problems.push('no client error was heard')
  return { problems, kinds, targets: reports }
}

function problemsOf(name, report) {
  const problems = []
  const must = (isMet, what) => isMet || problems.push(`${name}: ${what}`)
  must(report.inFlight === 0, `${report.inFlight} in flight`)
  must(report.connections === 0, `${report.connections} connections open`)
  must(report.areListenersKept, 'listeners have come or gone')
  const { started, ended, shed, abandoned, entered } = report
  must(started === ended + shed + abandoned, JSON.stringify({ started, ended, shed, abandoned }))
  must(entered <= ended, `${entered} handlers entered, ${ended} outcomes`)
  must(
    report.clientErrorsCounted === report.clientErrorsHeard,
    `${report.clientErrorsCounted} of ${report.clientErrorsHeard} client errors counted`
  )
  must(sumOf(report.internalErrors) === 0, `internal errors: ${JSON.stringify(report.internalErrors)}`)
  return problems
}

module.exports = { fuzz }
