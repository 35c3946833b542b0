'use strict'
// A server with something to show in every panel: it answers, fails, waits, turns away, collects garbage and
// gets bytes that are not HTTP. It has a pool whose callers time out, queries, a limit, a proxy, and a chat.
// Its load is its own, because one that comes from the test would end with it. It takes the number of workers
// that share its port, a version, shed.maxConcurrent or `off`, the milliseconds of a request, and those
// between two rounds of load. With EXPORTER, OpenTelemetry's exporter serves its metrics.

const cluster = require('node:cluster')
const http = require('node:http')
const net = require('node:net')
const express = require('express')
const { Server } = require('socket.io')
const { io: connect } = require('socket.io-client')
const pg = require('pg')
const { Pool } = require('tarn')
const { createSpillway } = require('../../src/index.js')
const { withoutDatabase } = require('../pools/fake-client')

const [workers = '0', version = '1.2.3', maxConcurrent = '2', tookMs = '5', loadMs = '20'] =
  process.argv.slice(2)
const LOAD_MS = Number(loadMs)
const STALL_MS = 150
const CHAT_MS = 300
/** One connection, used for longer than all of its callers wait. */
const POOL = { min: 0, max: 1, acquireTimeoutMillis: 20, create: async () => ({}), destroy() {} }
const USE_MS = 15
/** A busy machine would refuse every session, and the chat would have nothing to show: its class is `bypass`. */
const CLASSES = { '/report': 'critical' }
/**
 * A machine that stands still would be given more at each beat than it ever answers, and no scrape would get
 * through.
 */
const MAX_UNDER_WAY = 64

function serve() {
  const spillway = createSpillway({
    logger: false,
    release: { version, revision: 'abc' },
    proxy: { requestStart: true },
    deadline: { header: 'x-request-timeout-ms' },
    shed: {
      classify: ({ url }) => CLASSES[url] ?? (url.startsWith('/socket.io/') ? 'bypass' : 'normal'),
      ...(maxConcurrent === 'off'
        ? { mode: 'off' }
        : { mode: 'adaptive', maxConcurrent: Number(maxConcurrent), targetDelay: 5, maxDelay: 10 }),
    },
  })
  const app = express()
  app.use(spillway.express())
  app.get('/users/:id', (req, res) => setTimeout(() => res.json({ id: req.params.id }), Number(tookMs)))
  app.get('/report', spillway.limit({ name: 'report', maxConcurrent: 1, maxWait: 200 }), (req, res) => {
    spillway.shouldDegrade(req)
    setTimeout(() => res.end(), 2)
  })
  app.get('/fail', () => {
    throw new Error('as it should')
  })
  app.use(spillway.errorHandler())
  const pool = new Pool(POOL)
  spillway.pool('orders', pool)
  const database = new pg.Pool(withoutDatabase())
  spillway.pool('shop', database, { queries: true })
  const server = app.listen(0, '127.0.0.1', () => {
    const { port } = server.address()
    if (process.env.EXPORTER === undefined) process.send({ port })
    else
      require('./exporter/serve-exporter').serveExporter(spillway, (exporterPort) =>
        process.send({ port: exporterPort })
      )
    setInterval(() => load(port), LOAD_MS)
    setInterval(() => useConnections(pool), LOAD_MS)
    setInterval(() => database.query('select * from items'), LOAD_MS)
    setInterval(() => chat(port), CHAT_MS)
    setInterval(() => globalThis.gc(), 1000)
    setInterval(stall, 2000)
  })
  spillway.attach(server)
  const io = new Server(server)
  spillway.sockets(io)
  io.on('connection', (socket) => socket.on('say', (_text, ack) => ack()))
}

function useConnections(pool) {
  for (let i = 0; i < 3; i++)
    pool.acquire().promise.then(
      (connection) => setTimeout(() => pool.release(connection), USE_MS),
      () => {}
    )
}

/** A session with one message. */
function chat(port) {
  const socket = connect(`http://127.0.0.1:${port}`, { transports: ['websocket'], reconnection: false })
  socket.on('connect_error', () => socket.close())
  socket.on('connect', () => socket.emit('say', 'something', () => socket.close()))
}

/** Blocks the loop for longer than `insight.stallThreshold`. */
function stall() {
  const endMs = performance.now() + STALL_MS
  while (performance.now() < endMs);
}

let underWay = 0

function load(port) {
  if (underWay > MAX_UNDER_WAY) return
  const get = (path) => {
    underWay++
    const headers = { 'X-Request-Start': `t=${Date.now()}`, 'X-Request-Timeout-Ms': '5000' }
    http
      .get({ port, path, headers, host: '127.0.0.1' }, (res) => res.resume())
      .on('error', () => {})
      .on('close', () => underWay--)
  }
  // The gate admits these two at a time, so that one waits for the other.
  for (let i = 0; i < 2; i++) get('/report')
  for (let i = 0; i < 6; i++) get(`/users/${i}`)
  get('/fail')
  net
    .connect(port, '127.0.0.1')
    .on('error', () => {})
    .on('data', () => {})
    .end('this is no HTTP\r\n\r\n')
}

if (workers === '0' || cluster.isWorker) serve()
else {
  cluster.setupPrimary({ args: process.argv.slice(2) })
  for (let i = 0; i < Number(workers); i++) cluster.fork()
  let isTold = false
  cluster.on('message', (_worker, message) => {
    if (!isTold && message.port !== undefined) process.send({ port: message.port })
    isTold = true
  })
}
process.on('disconnect', () => process.exit())
