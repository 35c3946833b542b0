'use strict'
// What an open loop sends beside its load: health probes, each on a connection of its own, and connections
// that never send anything, like those of a scanner or of a balancer's checks.

const net = require('node:net')
const tls = require('node:tls')

const PROBE_EVERY_MS = 100
const PROBE_TIMEOUT_MS = 1000
const SILENT_MS = 250

/** One for all: to make one is dearer than a handshake. */
const secureContext = tls.createSecureContext()

const connectTo = ({ port, secure }) =>
  secure
    ? tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false, secureContext })
    : net.connect(port, '127.0.0.1')

/** @returns {{ sent: number, answered: number, latencies: number[] }} as far as it has come */
function probe(server, endMs) {
  const probes = { sent: 0, answered: 0, latencies: [] }
  const timer = setInterval(() => {
    const sentMs = performance.now()
    probes.sent++
    const socket = connectTo(server)
    const timeout = setTimeout(() => socket.destroy(), PROBE_TIMEOUT_MS)
    socket.on('error', () => {})
    socket.once('data', (data) => {
      clearTimeout(timeout)
      if (data.latin1Slice(9, 12) === '200') {
        probes.answered++
        probes.latencies.push(performance.now() - sentMs)
      }
      socket.destroy()
    })
    socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  }, PROBE_EVERY_MS)
  setTimeout(() => clearInterval(timer), endMs)
  return probes
}

/** Each is closed after a quarter of a second. @returns {{ opened: number }} as far as it has come */
function openSilent({ port }, perSecond, endMs) {
  const silent = { opened: 0 }
  const sinceMs = performance.now()
  const timer = setInterval(() => {
    const due = ((performance.now() - sinceMs) * perSecond) / 1000
    for (; silent.opened < due; silent.opened++) {
      const socket = net.connect(port, '127.0.0.1')
      socket.on('error', () => {})
      setTimeout(() => socket.destroy(), SILENT_MS)
    }
  }, 1)
  setTimeout(() => clearInterval(timer), endMs)
  return silent
}

module.exports = { connectTo, openSilent, probe }
