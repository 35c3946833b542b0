'use strict'
// npm run bench -- chat [flags]
//
// A chat on Socket.IO, with real sockets and clients in another process, and what watching a message costs.
//   healthy     2000 sessions by WebSocket and 300 by polling: none fails, none is shed, and the percentiles of each event are what
//               the clients measured by acknowledgements. A client's figure has the network and both loops in it as well, so that
//               only an event that takes some time can be compared: `probe` awaits 100 to 600 ms, and comes from a process of 20 sessions
//   without     the same as overloaded, without Spillway
//   overloaded  60 sessions take a quarter of the loop. Then 1100 more come within 26 seconds: five times what the loop bears. Those that
//               are connected keep their time where newcomers are refused, and lose it without Spillway
//   full        as many sessions as Spillway let in, without Spillway and with nobody behind them: what the same load costs by itself
//   cost        microseconds that watching adds to a message, in one process, watched and unwatched in turn
//
//   --parts cost,healthy,without,overloaded,full   which parts run; the others stay in the file as they were saved before
//   --save <name>                             saves to bench/results/<name>-node-<major>.json (chat)

const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { readFlags } = require('../support/flags')
const { load, machineLine, save } = require('../support/results')

const flags = readFlags({ parts: 'cost,healthy,without,overloaded,full', save: 'chat' })

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

/** Each event, as the server and as the clients measured it. */
const EVENTS = { say: 'websocket', lookup: 'websocket', probe: 'probe' }
const PHASE = 'healthy'

async function healthy() {
  const probe = new Child('clients.js', {})
  return withServer({ isWatched: true, burnMs: 0.2 }, async ({ port, server, clients }) => {
    await open(clients, { ...POLLING, name: 'polling', port, count: 300, perSecond: 40 })
    await open(clients, { ...WEBSOCKET, name: 'websocket', port, count: 2000, perSecond: 120 })
    clients.process.send({ measure: PHASE })
    probe.process.send({ measure: PHASE })
    await open(probe, {
      transport: 'websocket',
      everyMs: 100,
      events: ['probe'],
      name: 'probe',
      port,
      count: 20,
      perSecond: 40,
    })
    await sleep(18_000)
    const { sockets, shed, timedOut, slowestMs, clients: connected } = await reportOf(server)
    const groups = { ...(await reportOf(clients)), ...(await reportOf(probe)) }
    const events = Object.entries(EVENTS).map(([event, group]) => {
      const found = sockets.events.find((each) => each.event === event)
      if (found?.acks == null)
        throw new Error(`no '${event}' was answered: the machine has no CPU left for this bench`)
      return {
        event,
        handler: found.lastMinute,
        ack: found.acks.lastMinute,
        clients: groups[group].events[`${PHASE} ${event}`],
      }
    })
    return { groups, events, shed, timedOut, slowestMs, connected, refused: sockets.connections.refused }
  }).finally(() => probe.stop())
}

const BASE = { transport: 'websocket', everyMs: 1000, events: ['say'] }

const FLOOD = { count: 1100, perSecond: 42 }

async function withNewcomers({ isWatched, flood }) {
  return withServer({ isWatched, burnMs: 4 }, async ({ port, server, clients }) => {
    await open(clients, { ...BASE, name: 'connected', port, count: 60, perSecond: 100 })
    clients.process.send({ measure: 'before' })
    await sleep(8000)
    clients.process.send({ measure: 'during' })
    const newcomers = open(clients, { ...BASE, name: 'newcomers', port, ...flood })
    await sleep(28_000)
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
  for (const { event, ack, clients } of events)
    for (const name of ['p50', 'p90', 'p99'])
      print(
        `healthy     ${event.padEnd(7)} ${name}  server ${ms(ack[`${name}Ms`])}, clients ${ms(clients[name])}`
      )
}

function printNewcomers(name, { beforeP99Ms, duringP99Ms, newcomers, lost, connectedAtEnd }) {
  print(
    `${name.padEnd(10)}  p99 of the connected ${ms(beforeP99Ms)} before, ${ms(duringP99Ms)} during (${(duringP99Ms / beforeP99Ms).toFixed(1)}x); ` +
      `newcomers ${newcomers.connected} connected, failed ${JSON.stringify(newcomers.failed)}; lost ${lost}; ${connectedAtEnd} connected`
  )
}

const PARTS = {
  async cost() {
    const rows = await cost()
    for (const { what, plain, watched, addedMicros } of rows)
      print(
        `cost        ${what.padEnd(46)} ${plain.toFixed(2)} µs, watched ${watched.toFixed(2)}: +${addedMicros.toFixed(2)}`
      )
    return rows
  },
  async healthy() {
    const result = await healthy()
    printHealthy(result)
    return result
  },
  without: () => partWithNewcomers('without', { isWatched: false, flood: FLOOD }),
  overloaded: () => partWithNewcomers('overloaded', { isWatched: true, flood: FLOOD }),
  full: ({ overloaded }) =>
    partWithNewcomers('full', {
      isWatched: false,
      flood: { count: overloaded.newcomers.connected, perSecond: FLOOD.perSecond },
    }),
}

async function partWithNewcomers(name, options) {
  const result = await withNewcomers(options)
  printNewcomers(name, result)
  return result
}

function earlier() {
  try {
    return load(flags.save)
  } catch {
    return {}
  }
}

async function main() {
  const parts = String(flags.parts).split(',')
  const unknown = parts.find((part) => !Object.hasOwn(PARTS, part))
  if (unknown !== undefined)
    throw new Error(`there is no part '${unknown}': ${Object.keys(PARTS).join(', ')}`)
  print(machineLine())
  const { date: _, machine: __, ...result } = earlier()
  for (const part of parts) result[part] = await PARTS[part](result)
  print(`saved ${save(flags.save, result)}`)
}

main()
