'use strict'
// A server whose answers the test gives, and a drain of it in a time that the test moves.

require('./checked-transitions')
const http = require('node:http')
const { setImmediate: turn } = require('node:timers/promises')
const { Spillway } = require('../../src/spillway')
const { Connection } = require('./connection')
const { drivenClock } = require('./driven-clock')
const { serve } = require('./serve')

const QUARTER_MS = 250
const ORDER = { timeout: 4 * QUARTER_MS, delay: 0 }
const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

function drivenSpillway(t, options) {
  const clock = drivenClock()
  const spillway = new Spillway({ logger: false, shed: { mode: 'off' }, ...options }, clock)
  t.after(() => spillway.close())
  return { spillway, advance: clock.advance }
}

const attach = (spillway, application) => spillway.attach(http.createServer(application))

/** An application that answers what it is asked when the test says so. */
function heldApplication() {
  const held = []
  let entered = () => {}
  const application = (req, res) => {
    held.push({ req, res })
    entered()
  }
  const untilHeld = async (count) => {
    while (held.length < count) await new Promise((resolve) => (entered = resolve))
  }
  return { application, held, untilHeld }
}

async function drained(t, build = attach, options) {
  const { application, held, untilHeld } = heldApplication()
  const { spillway, advance } = drivenSpillway(t, options)
  const { server, port, get } = await serve(t, build(spillway, application))
  return { spillway, advance, server, port, get, held, untilHeld }
}

const untilConnected = async (server, count) => {
  while ((await new Promise((resolve) => server.getConnections((_, now) => resolve(now)))) < count)
    await turn()
}

const untilNotListening = async (server) => {
  while (server.listening) await turn()
}

/** A connection that has been used once, and is kept. */
async function keptConnection({ port, held, untilHeld }) {
  const connection = await Connection.open(port)
  connection.send(GET)
  await untilHeld(held.length + 1)
  held.at(-1).res.end('answered')
  await connection.until('answered')
  return connection
}

module.exports = { GET, ORDER, QUARTER_MS, drained, keptConnection, turn, untilConnected, untilNotListening }
