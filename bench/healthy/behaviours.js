'use strict'
// The behaviours of the clients of bench/healthy: each sends requests from `startMs` to `endMs` and tallies
// them. An open loop follows the clock. A closed loop sends its next request when the last is answered, by
// 200 or by 503.

const net = require('node:net')
const tls = require('node:tls')
const { clockMs } = require('./clock')
const { Connection, HOST, requestFor, wholeLengthOf } = require('./connection')
const { LEFT } = require('./tally')

const TICK_MS = 2
const RAMP_MS = 1000
/** Between the downloads of a client. */
const PAUSE_MS = 100
const CLOSING = Object.freeze({ headers: 'Connection: close\r\n' })

/**
 * Calls `act` with the moment each arrival is due at: latency counts from there, even if the load is late.
 */
function arrive({ startMs, endMs, rate }, act) {
  let count = 0
  const timer = setInterval(() => {
    const nowMs = Math.min(clockMs(), endMs)
    for (; startMs + (count * 1000) / rate <= nowMs; count++) act(startMs + (count * 1000) / rate)
    if (nowMs === endMs) clearInterval(timer)
  }, TICK_MS)
}

/** Starts the clients, spread over a second or all at once. */
function ramp({ clients, startMs, atOnce = false }, act) {
  for (let i = 0; i < clients; i++) {
    setTimeout(act, startMs - clockMs() + (atOnce ? 0 : (i * RAMP_MS) / clients))
  }
}

const jsonOf = ({ bytes, isMalformed }) => {
  const items = Array.from({ length: Math.ceil(bytes / 40) }, (_, i) => ({
    id: `item-${i}`,
    count: i,
    kind: i % 7,
  }))
  return JSON.stringify(isMalformed ? { player: 'p', stuff: items } : { player: 'p', items })
}

/** Sends `rate` requests a second, whatever the server does. */
function steady({ connections, tally }, { path, json, timeoutMs, ...when }) {
  const options = json === undefined ? {} : { method: 'POST', body: jsonOf(json) }
  arrive(when, (sinceMs) => connections.send(requestFor(path, options), tally.begin(sinceMs), { timeoutMs }))
}

/** Sends `size` requests at once, every `everyMs`. With `isNew`, each has a connection of its own. */
function bursts({ port, connections, tally }, { path, size, everyMs, isNew = false, ...when }) {
  const send = isNew
    ? (ended) => sendAlone(port, path, ended)
    : (ended) => connections.send(requestFor(path), ended)
  arrive({ ...when, rate: 1000 / everyMs }, (sinceMs) => {
    for (let i = 0; i < size; i++) send(tally.begin(sinceMs))
  })
}

function sendAlone(port, path, ended) {
  const connection = new Connection(port)
  connection.send(requestFor(path, CLOSING), ended)
}

/** Runs clients with one kept connection each, in a closed loop. */
function again({ port, tally }, { path, thinkMs = 0, endMs, ...when }) {
  ramp(when, () => {
    let connection = new Connection(port)
    const ask = () => {
      if (clockMs() >= endMs) return connection.close()
      if (connection.isClosed) connection = new Connection(port)
      const ended = tally.begin()
      connection.send(requestFor(path), (status) => {
        ended(status)
        if (thinkMs > 0) setTimeout(ask, thinkMs)
        // A connection that fails at once must not make a loop that never yields.
        else if (status === 0) setTimeout(ask, 50)
        else setImmediate(ask)
      })
    }
    ask()
  })
}

/** Opens event streams, and opens a stream again `retryMs` after it was rejected or cut. */
function streams({ port, tally }, { path, retryMs = 1000, endMs, ...when }) {
  const open = new Set()
  setTimeout(() => {
    for (const connection of open) connection.close()
  }, endMs - clockMs())
  ramp(when, function connect() {
    if (clockMs() >= endMs) return
    const connection = new Connection(port)
    open.add(connection)
    const retry = () => {
      open.delete(connection)
      setTimeout(connect, retryMs)
    }
    const ended = tally.begin()
    const hear = (status) => {
      ended(status)
      if (status !== 200) connection.close()
    }
    connection.send(requestFor(path), hear, { endsWithHead: true, onClose: retry })
  })
}

/** Begins `rate` uploads a second, sends a part of each body, and disconnects after `leaveMs`. */
function uploads({ port, tally }, { path, leaveMs, ...when }) {
  const request = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nshort`
  arrive(when, (sinceMs) => {
    const ended = tally.begin(sinceMs)
    const socket = net.connect(port, HOST)
    let status = LEFT
    socket.on('error', () => {})
    socket.on('data', (data) => {
      status = Number(data.latin1Slice(9, 12))
      socket.destroy()
    })
    socket.on('close', () => ended(status))
    socket.write(request)
    setTimeout(() => socket.destroy(), leaveMs)
  })
}

/** Runs clients that each download a file on a new connection, at `bytesPerSecond`, and then the next. */
function downloads({ port, tally }, { path, bytesPerSecond, endMs, ...when }) {
  ramp(when, function next() {
    if (clockMs() >= endMs) return
    const ended = tally.begin()
    download({ port, path, bytesPerSecond, endMs }, (status) => {
      ended(status)
      setTimeout(next, PAUSE_MS)
    })
  })
}

/**
 * Ends with the status of the answer, with 0 if a part of it is missing, or with LEFT if it takes until
 * `endMs`.
 */
function download({ port, path, bytesPerSecond, endMs }, ended) {
  const socket = net.connect(port, HOST)
  let hasLeft = false
  const timer = setTimeout(() => {
    hasLeft = true
    socket.destroy()
  }, endMs - clockMs())
  let head = ''
  let whole = Infinity
  let received = 0
  socket.on('error', () => {})
  socket.on('data', (data) => {
    received += data.length
    if (whole === Infinity) {
      head += data.latin1Slice()
      whole = wholeLengthOf(head) ?? Infinity
    }
    socket.pause()
    setTimeout(() => socket.resume(), (data.length * 1000) / bytesPerSecond)
  })
  socket.on('close', () => {
    clearTimeout(timer)
    if (hasLeft) return ended(LEFT)
    ended(received === whole ? Number(head.slice(9, 12)) : 0)
  })
  socket.write(requestFor(path, CLOSING))
}

/** Sends one request per client, closes the client's half of the connection, and waits for the answer. */
function halfCloses({ port, tally, secure }, { path, timeoutMs = 3000, ...when }) {
  ramp({ ...when, atOnce: true }, () => {
    const ended = tally.begin()
    const options = { port, host: HOST, allowHalfOpen: true }
    const socket = secure ? tls.connect({ ...options, rejectUnauthorized: false }) : net.connect(options)
    let text = ''
    socket.on('error', () => {})
    socket.on('data', (data) => {
      text += data.latin1Slice()
    })
    socket.on('end', () => socket.destroy())
    socket.on('close', () => ended(Number(text.slice(9, 12))))
    socket.end(requestFor(path))
    setTimeout(() => socket.destroy(), timeoutMs)
  })
}

module.exports = { BEHAVIOURS: { steady, bursts, again, streams, uploads, downloads, halfCloses } }
