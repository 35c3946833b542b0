'use strict'
// The rows of bench/healthy: the clients of each, the disturbances of its server, and the time before it counts.
// Others load the server beside a bystander. A row counts after `settleMs` of load.
// A row with `isEvent` is measured from its first request to its last answer instead.

const SECONDS_OF_CLOSED = 0.5
const MOST_SHED = 0.001
const MOST_SHED_COLD = 0.01
const LEAST_GOODPUT = 0.95
const BYSTANDER = { kind: 'steady', rate: 100, path: '/db?wait=20&burn=1' }
const CLIENTS = [10, 20, 50, 100, 200]
const CLIENT = 'client.js'

const waiters = { kind: 'again', clients: 300, path: '/wait?wait={300,1800}' }
const chat = (transport) => ({
  server: 'chat-server.js',
  client: 'chat-client.js',
  isEvent: true,
  isWarmed: false,
  bystander: [],
  others: () => [{ rate: 60, seconds: 6, transport }],
})
const halfClose = (secure) => ({
  isEvent: true,
  secure,
  settleMs: 0,
  seconds: 1,
  // The bystander has no TLS.
  ...(secure ? { bystander: [], isWarmed: false } : {}),
  others: () => [{ kind: 'halfCloses', clients: 60, path: '/hello' }],
})

/** Times count from the first request of the others, which run for `runMs`. */
const ROWS = {
  waiters: { withKoa: true, others: () => [waiters] },
  few: { others: () => [{ kind: 'again', clients: 60, path: '/wait?wait={300,900}' }] },
  pollers: {
    others: () => [
      { kind: 'again', clients: 75, path: '/poll?wait=4000' },
      { kind: 'again', clients: 75, path: '/poll?wait={0,4000}' },
      { kind: 'again', clients: 150, path: '/fast?burn=.1', thinkMs: 500 },
    ],
  },
  streams: { withKoa: true, others: () => [{ kind: 'streams', clients: 400, path: '/stream' }] },
  bursts: { others: () => [{ kind: 'bursts', size: 60, everyMs: 1000, path: '/burst?wait=900' }] },
  uploads: { others: () => [{ kind: 'uploads', rate: 200, leaveMs: 900, path: '/upload' }] },
  llm: { others: () => [{ kind: 'again', clients: 200, path: '/llm?wait={2000,8000}&burn=.5' }] },
  'slow-upstream': {
    settleMs: 0,
    others: (runMs) => [
      { kind: 'steady', rate: 150, path: '/upstream?wait=50', toMs: runMs / 3 },
      { kind: 'steady', rate: 150, path: '/upstream?wait=500', fromMs: runMs / 3, toMs: (runMs * 2) / 3 },
      { kind: 'steady', rate: 150, path: '/upstream?wait=50', fromMs: (runMs * 2) / 3 },
    ],
  },
  gc: {
    disturbances: [[0, 'disturb']],
    others: () => [
      { kind: 'steady', rate: 100, path: '/upstream?wait={20,200}&burn=.3' },
      { kind: 'again', clients: 30, path: '/wait?wait={300,900}' },
    ],
  },
  'cold-crowd': {
    isEvent: true,
    isWarmed: false,
    settleMs: 0,
    seconds: 1,
    bystander: [],
    mostShed: MOST_SHED_COLD,
    others: () => [{ kind: 'bursts', size: 200, everyMs: 1e6, path: '/burst?wait=400' }],
  },
  stall: { settleMs: 5500, disturbances: [[2500, 'block']], others: () => [waiters] },
  orphans: {
    bystander: [],
    others: () => [
      {
        kind: 'steady',
        rate: 24,
        path: '/save',
        json: { bytes: 150_000, isMalformed: true },
        timeoutMs: 5000,
      },
      { kind: 'steady', rate: 24, path: '/save', json: { bytes: 150_000 }, timeoutMs: 5000 },
      { kind: 'steady', rate: 32, path: '/reward?wait=3', timeoutMs: 5000 },
    ],
  },
  'half-close': halfClose(false),
  'half-close-https': halfClose(true),
  storm: {
    settleMs: 5000,
    others: () => [waiters, { kind: 'again', clients: 300, path: '/cpu?burn=2', toMs: 3000 }],
  },
  'chat-polling': chat('polling'),
  'chat-websocket': chat('websocket'),
}

/** At some 400 requests a second, what serves them is compiled after so long, with and without a gate. */
const COMPILED_MS = 10_000

/** Closed loops on kept connections: one row for each number of clients. */
const CLOSED = {
  hello: { path: '/hello', clients: [...CLIENTS, 1000] },
  cpu: { path: '/cpu?burn=2', withKoa: true, settleMs: COMPILED_MS },
  await: { path: '/await?wait=100&burn=.3' },
  'pool-5': { path: '/pool', pool: 5 },
  'pool-50': { path: '/pool', pool: 50 },
  'autocannon-hello': { path: '/hello', clients: [100], client: 'autocannon.js' },
  'autocannon-cpu': {
    path: '/cpu?burn=2',
    clients: [100],
    client: 'autocannon.js',
    settleMs: COMPILED_MS,
  },
}

const closedRow = ({ path, ...row }, clients) => ({
  // A closed loop warms up its own route.
  isWarmed: false,
  bystander: [],
  leastGoodput: LEAST_GOODPUT,
  secondsRatio: SECONDS_OF_CLOSED,
  ...row,
  clients,
  others: () => [{ kind: 'again', clients, path, atOnce: true }],
})

const NAMES = [...Object.keys(ROWS), ...Object.keys(CLOSED)]

function rowsOf(name, clients) {
  if (name in ROWS) return [{ name, mostShed: MOST_SHED, ...ROWS[name] }]
  const counts = clients ?? CLOSED[name].clients ?? CLIENTS
  return counts.map((count) => ({ ...closedRow(CLOSED[name], count), name: `${name} ${count}` }))
}

const DEFAULTS = {
  server: 'server.js',
  client: CLIENT,
  bystander: [BYSTANDER],
  isWarmed: true,
  settleMs: 1500,
  secondsRatio: 1,
  disturbances: [],
}

/** @returns {any[]} the rows of these names. With `koa`, Koa replaces Express. Otherwise, some rows have both. */
function chooseRows(names = NAMES, { clients, koa = false } = {}) {
  return names
    .flatMap((name) => rowsOf(name, clients))
    .map((row) => ({ ...DEFAULTS, ...row }))
    .flatMap((row) => {
      const onKoa = { ...row, name: `${row.name} koa`, framework: 'koa' }
      if (row.server !== DEFAULTS.server) return [{ ...row, framework: 'none' }]
      if (koa) return [onKoa]
      return [{ ...row, framework: 'express' }, ...(row.withKoa ? [onKoa] : [])]
    })
}

module.exports = { BYSTANDER, NAMES, chooseRows }
