'use strict'
// node test/simulation/loads.js [--root checkout]
//
// Prints what the gate does with loads of every kind, in simulated time: overloads, closed loops, gateways,
// bursts and HTTP/2. `--root` takes the admission of another checkout.

const { resolve } = require('node:path')
const { readFlags } = require('../../bench/support/flags')
const { WORKS, capacityOf, overload } = require('./overload')
const { closedLoop, judgeSaturated } = require('./saturated')
const { stackOf } = require('./stack')
const { ROUND_TRIP_MS, World } = require('./world')

const { root } = readFlags({ root: resolve(__dirname, '../..') })
const stack = stackOf(resolve(root))
const NONE = { mode: 'off' }

const SATURATED_WORLDS = 200
const DEADLINE_MS = 250
/** A load steps up at this time, and is measured for one second and for the five after it. */
const STEP_MS = 2000
const SETTLED_MS = 3000
const END_MS = 8000
const TIMEOUT_MS = 3000
const PERIOD_MS = 3000
const PERIODS = 4

const cell = (value, digits = 2) => (value === undefined ? '-' : value.toFixed(digits))
const percent = (share) => `${cell(100 * share, 1)}%`

function print(title, heads, rows) {
  const all = [heads, ...rows]
  const widths = heads.map((_, i) => Math.max(...all.map((row) => String(row[i]).length)))
  const line = (row) => row.map((each, i) => String(each).padStart(widths[i])).join('  ')
  process.stdout.write(`\n${title}\n${all.map(line).join('\n')}\n`)
}

function printOverloads() {
  const rows = Object.keys(WORKS).flatMap((work) =>
    [0.8, 1.05, 1.2, 1.5, 2, 5, 10].map((times) => {
      const { ofBound, p50Ms, p99Ms, shedShare } = overload(work, times, undefined, stack)
      return [work, times, cell(ofBound), cell(p50Ms, 0), cell(p99Ms, 0), percent(shedShare)]
    })
  )
  print('Open loop', ['work', 'times', 'of bound', 'p50', 'p99', 'shed'], rows)
}

/** @returns {any[]} the columns of a closed loop beside the same without a gate */
function closedColumns(spec) {
  const given = { stack, settledMs: SETTLED_MS }
  const gated = closedLoop(spec, given)
  const free = closedLoop(spec, { ...given, shed: NONE })
  const goodput = cell(gated.perSecond / free.perSecond, 3)
  return [goodput, cell(gated.shedPerSecond, 0), cell(gated.p99Ms, 0), cell(free.p99Ms, 0)]
}
const CLOSED_HEADS = ['goodput over none', 'shed/s', 'p99', 'p99 without']

function printClosed() {
  const crowds = [10, 50, 75, 100, 150, 200, 300, 1000]
  const loads = [
    ...crowds.map((clients) => ({ burn: 2, clients })),
    ...crowds.map((clients) => ({ burn: 0.5, clients })),
    // Busy clients take longer to ask again, so that connections are spare.
    ...[50, 100, 300, 1000].map((clients) => ({ burn: 2, clients, roundTripMs: 5 })),
    ...[100, 1000].map((clients) => ({ burn: 2, clients, reconnects: true })),
  ]
  const rows = loads.map(({ burn, ...clients }) => {
    const spec = { seconds: 13, routes: [{ steps: [{ burn }] }], closed: [{ route: 0, ...clients }] }
    const { roundTripMs = ROUND_TRIP_MS, reconnects } = clients
    return [burn, clients.clients, roundTripMs, reconnects ? 'new' : 'kept', ...closedColumns(spec)]
  })
  print('Closed loop', ['ms', 'clients', 'round trip', 'connections', ...CLOSED_HEADS], rows)
  const found = Array.from({ length: SATURATED_WORLDS }, (_, i) => judgeSaturated(i + 1, { stack }))
  const harmed = found.filter(({ isHarmed }) => isHarmed).length
  const shedding = found.filter(({ shedPerSecond }) => shedPerSecond > 0).length
  const least = Math.min(...found.map(({ goodput }) => goodput))
  process.stdout.write(
    `${SATURATED_WORLDS} generated, kept clients x cost <= 400 ms: ${harmed} harmed, ` +
      `${shedding} with rejections, least goodput ${cell(least)}\n`
  )
}

/** Requests of 2 ms through a gateway, at half the capacity and then at `times` the capacity. */
function throughGateway(gateway, times, shed) {
  const { steps } = WORKS.cpu
  const capacity = capacityOf('cpu')
  const open = [
    { route: 0, through: 0, perSecond: capacity / 2, toMs: STEP_MS },
    { route: 0, through: 0, perSecond: capacity * times, fromMs: STEP_MS, toMs: END_MS },
  ]
  const gateways = [{ timeoutMs: TIMEOUT_MS, ...gateway }]
  const spec = { seed: 3, seconds: 9.5, routes: [{ steps }], gateways, open }
  const { requests } = new World(spec, { stack, shed, keepsRequests: false }).run()
  const tookMs = ({ servedMs, atMs }) => servedMs - atMs
  const inTime = (fromMs, toMs) => {
    const served = requests.filter(
      (each) => each.atMs >= fromMs && each.atMs < toMs && tookMs(each) <= DEADLINE_MS
    )
    return served.length / ((toMs - fromMs) / 1000) / Math.min(capacity, capacity * times)
  }
  const counted = requests.filter(({ atMs }) => atMs >= SETTLED_MS)
  const took = counted
    .map(tookMs)
    .filter((ms) => ms >= 0)
    .sort((a, b) => a - b)
  return {
    first: inTime(STEP_MS, SETTLED_MS),
    inTime: inTime(SETTLED_MS, END_MS),
    p50Ms: took[Math.floor(took.length / 2)],
    shed: counted.filter(({ shedMs }) => shedMs !== undefined).length / counted.length,
  }
}

const GATEWAY_HEADS = ['times', 'in time', 'first second', 'p50', 'shed', 'none: in time', 'first', 'p50']

/** @returns {any[]} the columns of a gateway beside the same without a gate */
function gatewayColumns(gateway, times) {
  const gated = throughGateway(gateway, times)
  const free = throughGateway(gateway, times, NONE)
  const ofGated = [cell(gated.inTime), cell(gated.first), cell(gated.p50Ms, 0), percent(gated.shed)]
  return [times, ...ofGated, cell(free.inTime), cell(free.first), cell(free.p50Ms, 0)]
}

function printGateways() {
  const own = [32, 64, 128, 256, 1024].flatMap((connections) => [
    { connections, queues: true, forwards: 'x-forwarded-for' },
    { connections, queues: true },
  ])
  const others = [
    { connections: 64, queues: true, forwards: 'traceparent' },
    { connections: 64, most: 4096, forwards: 'x-forwarded-for' },
    { connections: 64, forwards: 'x-forwarded-for' },
  ]
  const rows = [...own, ...others].flatMap((gateway) =>
    [0.65, 2, 10].map((times) => {
      const { connections, queues, most, forwards } = gateway
      const beyond = queues ? 'queues' : most === undefined ? 'fails' : `opens ${most}`
      return [connections, beyond, forwards ?? '-', ...gatewayColumns(gateway, times)]
    })
  )
  const heads = ['connections', 'beyond', 'header', ...GATEWAY_HEADS]
  print('Gateways, 2 ms; in time is within 250 ms from arrival at the gateway, of the capacity', heads, rows)
}

/**
 * `workMs` of 1 ms requests at once, every three seconds, beside independent users.
 *
 * @returns {number} the share shed
 */
function burstShed({ workMs, wait, how, utilisation }) {
  const reconnects = how === 'new'
  const burn = 1
  const per = 1000 / PERIOD_MS
  const burst = { route: 0, perSecond: workMs * per, batch: workMs, arrivals: 'constant', reconnects }
  const beside = { route: 1, perSecond: 1000 * utilisation - workMs * per }
  const isThrough = how === 'gateway 64'
  const spec = {
    seed: 3,
    seconds: ((1 + PERIODS) * PERIOD_MS) / 1000,
    routes: [{ steps: wait === 0 ? [{ burn }] : [{ wait }, { burn }] }, { steps: [{ burn }] }],
    gateways: [{ connections: 64, queues: true, forwards: 'x-forwarded-for' }],
    open: [isThrough ? { ...burst, through: 0 } : burst, beside],
  }
  const { requests } = new World(spec, { stack, keepsRequests: false }).run()
  const counted = requests.filter(({ route, atMs }) => route === 0 && atMs >= PERIOD_MS)
  return counted.filter(({ shedMs }) => shedMs !== undefined).length / counted.length
}

function printBursts() {
  const rows = [1 / 3, 0.65].flatMap((utilisation) =>
    ['kept', 'new', 'gateway 64'].flatMap((how) =>
      [0, 20].map((wait) => [
        cell(utilisation),
        how,
        wait,
        ...[50, 150, 300, 500].map((workMs) => percent(burstShed({ workMs, wait, how, utilisation }))),
      ])
    )
  )
  const heads = ['loop', 'connections', 'wait', '50 ms', '150 ms', '300 ms', '500 ms']
  print('Bursts every three seconds, shed of the burst', heads, rows)
}

function printHttp2() {
  const closed = [
    [1, 100],
    [10, 100],
    [10, 300],
  ].map(([sessions, clients]) => {
    const spec = {
      seconds: 13,
      routes: [{ steps: [{ burn: 2 }] }],
      closed: [{ route: 0, clients, sessions }],
    }
    return [sessions, clients, ...closedColumns(spec)]
  })
  print('HTTP/2 closed loop, 2 ms', ['sessions', 'streams', ...CLOSED_HEADS], closed)
  const open = [
    { connections: 1, streams: 100, queues: true },
    { connections: 4, streams: 100, queues: true },
    { connections: 4, streams: 100, queues: true, forwards: 'x-forwarded-for' },
  ].flatMap((gateway) =>
    [0.65, 2, 10].map((times) => [
      gateway.connections,
      gateway.streams,
      gateway.forwards ?? '-',
      ...gatewayColumns(gateway, times),
    ])
  )
  print('HTTP/2 open loop, 2 ms', ['sessions', 'streams', 'header', ...GATEWAY_HEADS], open)
}

printOverloads()
printClosed()
printGateways()
printBursts()
printHttp2()
