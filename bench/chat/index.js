'use strict'
// npm run bench -- chat [flags]
//
// A chat on Socket.IO, with real sockets and clients in another process, and what watching a message costs.
//   healthy     2000 sessions by WebSocket and 300 by polling: none fails, none is shed, and the percentiles of each event are what
//               the clients measured by acknowledgements. A client's figure has the network and both loops in it as well, so that
//               only an event that takes some time can be compared: `lookup` awaits 20 to 120 ms
//   overloaded  200 sessions take half of the loop. Then 1800 more come within 30 seconds: five times what the loop bears. Those that
//               are connected keep their time where newcomers are refused, and lose it without Spillway
//   cost        microseconds that watching adds to a message, in one process, watched and unwatched in turn
//
//   --parts healthy,overloaded,cost   which parts run
//   --save <name>                     saves to bench/results/<name>-node-<major>.json (chat)

const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { readFlags } = require('../support/flags')
const { machineLine, save } = require('../support/results')

const flags = readFlags({ parts: 'healthy,overloaded,cost', save: 'chat' })

class Child {
  constructor(file, given) {
    this.process = fork(path.join(__dirname, file), [JSON.stringify(given)])
  }

  /** @param {string} key */
  async next(key) {
    for (;;) {
      const [message] = await once(this.process, 'message')
      if (Object.hasOwn(message, key)) return message[key]
    }
  }

  ask(message, key) {
    const answer = this.next(key)
    this.process.send(message)
    return answer
  }

  async stop() {
    const exit = once(this.process, 'exit')
    this.process.kill('SIGKILL')
    await exit
  }
}

async function withServer(options, run) {
  const server = new Child('server.js', options)
  const clients = new Child('clients.js', {})
  try {
    return await run({ port: await server.next('port'), server, clients })
  } finally {
    await clients.stop()
    await server.stop()
  }
}

const reportOf = (child) => child.ask({ report: true }, 'report')
const open = (clients, group) => clients.ask({ open: group }, 'opened')

const POLLING = { transport: 'polling', everyMs: 8000, events: ['say', 'lookup'] }
const WEBSOCKET = { transport: 'websocket', everyMs: 5000, events: ['say', 'lookup'] }

async function healthy() {
  return withServer({ isWatched: true, burnMs: 0.2 }, async ({ port, server, clients }) => {
    const polling = { ...POLLING, name: 'polling', port, count: 300, perSecond: 40 }
    const webSocket = { ...WEBSOCKET, name: 'websocket', port, count: 2000, perSecond: 120 }
    await open(clients, polling)
    await open(clients, webSocket)
    clients.process.send({ measure: 'healthy' })
    await sleep(20_000)
    const { sockets, shed, timedOut, slowestMs, clients: connected } = await reportOf(server)
    const groups = await reportOf(clients)
    const events = sockets.events
      .filter(({ event }) => event === 'say' || event === 'lookup')
      .map(({ event, lastMinute, acks }) => ({ event, lastMinute, acks: acks.lastMinute }))
    return { groups, events, shed, timedOut, slowestMs, connected, refused: sockets.connections.refused }
  })
}

const BASE = { transport: 'websocket', everyMs: 500, events: ['say'] }

async function overloaded(isWatched) {
  return withServer({ isWatched, burnMs: 1 }, async ({ port, server, clients }) => {
    await open(clients, { ...BASE, name: 'connected', port, count: 200, perSecond: 100 })
    clients.process.send({ measure: 'before' })
    await sleep(8000)
    clients.process.send({ measure: 'during' })
    const newcomers = open(clients, { ...BASE, name: 'newcomers', port, count: 1800, perSecond: 60 })
    await sleep(32_000)
    const groups = await reportOf(clients)
    const { sockets, clients: now } = await reportOf(server)
    newcomers.catch(() => {})
    const { connected, newcomers: others } = groups
    const p99 = (phase) => connected.events[`${phase} say`]?.p99 ?? Number.NaN
    return {
      isWatched,
      beforeP99Ms: p99('before'),
      duringP99Ms: p99('during'),
      duringP50Ms: connected.events['during say']?.p50 ?? Number.NaN,
      answeredBefore: connected.events['before say']?.count ?? 0,
      answeredDuring: connected.events['during say']?.count ?? 0,
      lost: connected.lost,
      unanswered: connected.unanswered,
      newcomers: others,
      connectedAtEnd: now,
      refused: sockets?.connections.refused ?? {},
    }
  })
}

async function cost() {
  const child = fork(path.join(__dirname, 'cost.js'))
  const [rows] = await once(child, 'message')
  return rows.map((row) => ({ ...row, addedMicros: row.watched - row.plain }))
}

const print = (line) => process.stdout.write(`${line}\n`)
const ms = (value) => `${value.toFixed(1)} ms`

function printHealthy({ groups, events, shed, timedOut, connected }) {
  for (const [name, { connected: open, failed, lost, unanswered }] of Object.entries(groups))
    print(
      `healthy     ${name.padEnd(10)} ${open} connected, failed ${JSON.stringify(failed)}, lost ${lost}, unanswered ${unanswered}`
    )
  print(`healthy     connected now ${connected}, shed ${JSON.stringify(shed)}, timed out ${timedOut}`)
  for (const { event, acks } of events) {
    const client = groups.websocket.events[`healthy ${event}`]
    for (const [name, key] of [
      ['p50', 'p50Ms'],
      ['p90', 'p90Ms'],
      ['p99', 'p99Ms'],
    ])
      print(`healthy     ${event.padEnd(7)} ${name}  server ${ms(acks[key])}, clients ${ms(client[name])}`)
  }
}

function printOverloaded({ isWatched, beforeP99Ms, duringP99Ms, newcomers, lost, connectedAtEnd }) {
  print(
    `overloaded  ${isWatched ? 'spillway' : 'without '}  p99 of the connected ${ms(beforeP99Ms)} before, ${ms(duringP99Ms)} during (${(duringP99Ms / beforeP99Ms).toFixed(1)}x); ` +
      `newcomers ${newcomers.connected} connected, failed ${JSON.stringify(newcomers.failed)}; lost ${lost}; ${connectedAtEnd} connected`
  )
}

async function main() {
  const parts = String(flags.parts).split(',')
  print(machineLine())
  const result = {}
  if (parts.includes('cost')) {
    result.cost = await cost()
    for (const { what, plain, watched, addedMicros } of result.cost)
      print(
        `cost        ${what.padEnd(46)} ${plain.toFixed(2)} µs, watched ${watched.toFixed(2)}: +${addedMicros.toFixed(2)}`
      )
  }
  if (parts.includes('healthy')) printHealthy((result.healthy = await healthy()))
  if (parts.includes('overloaded')) {
    result.overloaded = []
    for (const isWatched of [false, true]) {
      const row = await overloaded(isWatched)
      result.overloaded.push(row)
      printOverloaded(row)
    }
  }
  const isWhole = ['healthy', 'overloaded', 'cost'].every((part) => parts.includes(part))
  const name = isWhole || flags.save !== 'chat' ? flags.save : 'chat-part'
  print(`saved ${save(name, result)}`)
}

main()
