'use strict'
// One run of bench/healthy.js: a fresh server on its core, the bystander and the others each in a process of its own on
// the other core, and what they and the gate counted between two moments. Nothing of a run is left when it ends.

const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { setTimeout: delay } = require('node:timers/promises')
const { BYSTANDER } = require('./healthy-rows')
const { startServer } = require('./pinned')

const WARM_MS = 2000
const LEAD_MS = 200
/** Beyond the seconds of a run: it starts, it drains, and sessions have timeouts. */
const PATIENCE_MS = 45_000
/** With less of its core to itself a healthy load is no longer one. */
const MOST_FOREIGN = 0.25
const NOBODY = Object.freeze({
  sent: 0,
  ok: 0,
  shed: 0,
  left: 0,
  failed: 0,
  answered: 0,
  shedAnswers: 0,
  p99Ms: null,
})

/** @param {string} file beside this one */
async function startClient(file) {
  const child = fork(path.join(__dirname, file), [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const gone = once(child, 'exit').then(([code]) => {
    throw new Error(`${file} ended with ${code}`)
  })
  // Its end is only an error while an answer is awaited.
  gone.catch(() => {})
  const answer = async () => (await Promise.race([once(child, 'message'), gone]))[0]
  await answer()
  return {
    /** @returns {Promise<any>} */
    async ask(question) {
      const answered = answer()
      child.send(question)
      return answered
    },
    tell: (message) => void child.send(message),
    stop: () => child.kill('SIGKILL'),
  }
}

const startService = ({ server, framework, secure, pool }, { mode, postgresUrl }) => {
  const database = pool === undefined ? {} : { pool: { size: pool, url: postgresUrl } }
  const options = { mode, framework, secure, ...database }
  return startServer(path.join(__dirname, server), [JSON.stringify(options)], { nodeArgs: ['--expose-gc'] })
}

const differenceOf = (after, before) =>
  Object.fromEntries(
    Object.entries(after)
      .map(([name, count]) => [name, count - (before[name] ?? 0)])
      .filter(([, count]) => count > 0)
  )

/** What the server did between two answers of it. */
const betweenOf = (before, after) => ({
  cpu: (after.cpuMs - before.cpuMs) / (after.atMs - before.atMs),
  foreign: (after.foreignMs - before.foreignMs) / (after.atMs - before.atMs),
  seconds: (after.atMs - before.atMs) / 1000,
  reasons: differenceOf(after.shed, before.shed),
  wouldShed: differenceOf(after.wouldShed, before.wouldShed),
})

const sleepUntil = (atMs) => delay(Math.max(0, atMs - Date.now()))

/** Sends requests like the bystander's for a while, so that the server's code is compiled and the gate has samples. */
async function warm(server, client, row) {
  const startMs = Date.now() + LEAD_MS
  const toMs = startMs + WARM_MS
  const behaviours = row.others(WARM_MS)
  // In a closed loop the bystander is another route: what is warmed is the one that counts, by one client.
  const load = row.clients === undefined ? BYSTANDER : { ...behaviours[0], clients: 1 }
  await client.ask({ port: server.port, startMs, fromMs: startMs, toMs, behaviours: [load] })
}

async function measure(row, server, { bystander, others }, seconds) {
  const startMs = Date.now() + LEAD_MS
  const fromMs = startMs + row.settleMs
  const toMs = fromMs + seconds * 1000
  const plan = { port: server.port, secure: row.secure, startMs, fromMs, toMs }
  // A counted row begins with its first request.
  const counted = row.isCounted ? { ...plan, fromMs: startMs - LEAD_MS } : plan
  const early = row.isCounted ? await server.ask('figures') : undefined
  const tallies = Promise.all([
    row.bystander.length > 0 ? bystander.ask({ ...plan, behaviours: row.bystander }) : NOBODY,
    others.ask({ ...counted, behaviours: row.others(toMs - startMs) }),
  ])
  // It is awaited later: until then its failure is no unhandled one.
  tallies.catch(() => {})
  for (const [atMs, disturbance] of row.disturbances) {
    await sleepUntil(startMs + atMs)
    await server.ask(disturbance)
  }
  await sleepUntil(row.isCounted ? 0 : fromMs)
  const before = early ?? (await server.ask('figures'))
  await sleepUntil(row.isCounted ? 0 : toMs)
  if (row.isCounted) await tallies
  const between = betweenOf(before, await server.ask('figures'))
  const [ofBystander, ofOthers] = await tallies
  const answered = ofBystander.answered + ofOthers.answered
  const shedAnswers = ofBystander.shedAnswers + ofOthers.shedAnswers
  return {
    bystander: ofBystander,
    others: ofOthers,
    goodput: row.isCounted ? ofOthers.ok : answered / seconds,
    shedPerSecond: shedAnswers / between.seconds,
    ...between,
  }
}

/**
 * @param {any} row
 * @param {{ mode: string, seconds: number, postgresUrl?: string }} options
 */
async function runOnce(row, { seconds, ...options }) {
  const running = []
  const start = async (starting) => {
    const started = await starting
    running.push(started)
    return started
  }
  const impatience = new AbortController()
  const work = async () => {
    const server = await start(startService(row, options))
    // A row without a bystander of its own still warms up by one.
    const bystander = await start(startClient('healthy-client.js'))
    const others = await start(startClient(row.client))
    if (!row.isCold && row.server === 'healthy-server.js' && !row.secure) await warm(server, bystander, row)
    return measure(row, server, { bystander, others }, row.seconds ?? seconds * row.secondsRatio)
  }
  const tooLong = delay(seconds * 1000 + PATIENCE_MS, undefined, { signal: impatience.signal }).then(
    () => Promise.reject(new Error('the run has not ended in time')),
    () => undefined
  )
  try {
    return await Promise.race([work(), tooLong])
  } finally {
    impatience.abort()
    await Promise.all(running.map((each) => each.stop()))
  }
}

/** Repeats a run while other processes had the server's core, and takes the calmest. */
async function run(row, { attempts = 1, ...options }) {
  let calmest
  for (let attempt = 0; attempt < attempts; attempt++) {
    const result = await runOnce(row, options)
    if (calmest === undefined || result.foreign < calmest.foreign) calmest = result
    if (calmest.foreign <= MOST_FOREIGN) break
  }
  return calmest
}

module.exports = { run, startClient, startService }
