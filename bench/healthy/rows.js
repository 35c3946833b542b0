'use strict'
// The rows of bench/healthy: the clients of each, the disturbances of its server, and the time before it
// counts. Others load the server beside a bystander. A row counts after `settleMs` of load. A row with
// `isEvent` is measured from its first request to its last answer instead.

const SECONDS_OF_CLOSED = 0.5
const MAX_SHED = 0.001
const MAX_SHED_COLD = 0.01
const BYSTANDER = { kind: 'steady', rate: 100, path: '/db?wait=20&burn=1' }
const CLIENTS = [10, 20, 50, 100, 200]
const CLIENT = 'client.js'
/** Kept connections of so many clients may hold more work than a queue can serve in time. */
const MANY_CLIENTS = 300

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

/** Work that comes at once and is over before the next comes: nothing of it may be shed. */
const burst = ({ size, everyMs = 3000, wait = 0, isNew = false }) => ({
  mostShed: 0,
  others: () => [{ kind: 'bursts', size, everyMs, isNew, path: `/burst?wait=${wait}&burn=1` }],
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
  'burst-cpu': burst({ size: 300 }),
  'burst-await': burst({ size: 300, wait: 20 }),
  'burst-new': burst({ size: 300, isNew: true }),
  'burst-long': burst({ size: 500, everyMs: 2500 }),
  'burst-short': burst({ size: 150, everyMs: 2500 }),
  /** Files of 5 MB to readers of 2.5 MB a second. */
  files: {
    mostShed: 0,
    others: () => [{ kind: 'downloads', clients: 20, path: '/file', bytesPerSecond: 2_500_000 }],
  },
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
    mostShed: MAX_SHED_COLD,
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

/** 2 ms a request: nothing is shed while the queue of all clients is served in time. */
const cpuBounds = (clients) =>
  clients < MANY_CLIENTS ? { leastGoodput: 0.96, mostShed: 0 } : { leastGoodput: 0.8, mostP99Ms: 100 }

/** Closed loops on kept connections: one row for each number of clients. `boundsOf` takes the number. */
const CLOSED = {
  hello: { path: '/hello', clients: [...CLIENTS, 1000], boundsOf: () => ({ leastGoodput: 0.95 }) },
  cpu: {
    path: '/cpu?burn=2',
    clients: [10, 50, 100, 150, 300, 1000],
    boundsOf: cpuBounds,
    withKoa: true,
    settleMs: COMPILED_MS,
  },
  'cpu-half': { path: '/cpu?burn=.5', clients: [50, 100], boundsOf: () => ({ leastGoodput: 0.95 }) },
  await: { path: '/await?wait=100&burn=.3', boundsOf: () => ({ leastGoodput: 0.97 }) },
  'pool-5': { path: '/pool', pool: 5, boundsOf: () => ({ leastGoodput: 0.97 }) },
  'pool-50': { path: '/pool', pool: 50, boundsOf: () => ({ leastGoodput: 0.97 }) },
  'autocannon-hello': {
    path: '/hello',
    clients: [100, 300, 1000],
    client: 'autocannon.js',
    boundsOf: () => ({ leastGoodput: 0.95 }),
  },
  'autocannon-cpu': {
    path: '/cpu?burn=2',
    clients: [100, 300, 1000],
    client: 'autocannon.js',
    boundsOf: (clients) => ({ ...cpuBounds(clients), mostP99Ms: undefined }),
    settleMs: COMPILED_MS,
  },
}

const closedRow = ({ path, boundsOf, ...row }, clients) => ({
  // A closed loop warms up its own route.
  isWarmed: false,
  bystander: [],
  secondsRatio: SECONDS_OF_CLOSED,
  ...row,
  ...boundsOf(clients),
  clients,
  others: () => [{ kind: 'again', clients, path, atOnce: true }],
})

const NAMES = [...Object.keys(ROWS), ...Object.keys(CLOSED)]

function rowsOf(name, clients) {
  if (name in ROWS) return [{ name, mostShed: MAX_SHED, ...ROWS[name] }]
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

/**
 * @returns {any[]} the rows of these names. With `koa`, Koa replaces Express. Otherwise, some rows have both.
 */
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
