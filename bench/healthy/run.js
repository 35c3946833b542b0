'use strict'
// One run of bench/healthy: a fresh server on one core, and the bystander and the others on the other core.
// The bystander has its own process, so that the work of the others does not delay it. A run stops all it
// starts.

const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { setTimeout: delay } = require('node:timers/promises')
const { startServer } = require('../support/pinned')
const { clockMs } = require('./clock')
const { BYSTANDER } = require('./rows')

const WARM_MS = 2000
const LEAD_MS = 200
/** The time that a run may take beyond its seconds, to start and to drain. Sessions have timeouts of 10 s. */
const PATIENCE_MS = 45_000
/** A healthy load may be an overload of a server whose core is busy with other processes. */
const MAX_FOREIGN = 0.25
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

/** @param {string} file in this folder */
async function startClient(file) {
  const child = fork(path.join(__dirname, file), [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const gone = once(child, 'exit').then(([code]) => {
    throw new Error(`${file} ended with ${code}`)
  })
  // The end of the process is an error only while an answer is due.
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

/** @returns {any} what the server did between two of its answers */
const betweenOf = (before, after) => ({
  cpu: (after.cpuMs - before.cpuMs) / (after.atMs - before.atMs),
  foreign: (after.foreignMs - before.foreignMs) / (after.atMs - before.atMs),
  seconds: (after.atMs - before.atMs) / 1000,
  reasons: differenceOf(after.shed, before.shed),
  wouldShed: differenceOf(after.wouldShed, before.wouldShed),
})

const sleepUntil = (atMs) => delay(Math.max(0, atMs - clockMs()))

/** Sends the bystander's requests for a while, so that the code is compiled and the gate has samples. */
async function warm(server, client) {
  const startMs = clockMs() + LEAD_MS
  const toMs = startMs + WARM_MS
  await client.ask({ port: server.port, startMs, fromMs: startMs, toMs, behaviours: [BYSTANDER] })
}

/** Measures an event from before its first request until after its last answer. */
async function measureEvent(server, load) {
  const before = await server.ask('figures')
  const tallies = await load()
  return { tallies, between: betweenOf(before, await server.ask('figures')) }
}

/** Measures a load between two moments, and disturbs the server before the first of them. */
async function measureSpan(server, load, { disturbances }, { startMs, fromMs, toMs }) {
  const loading = load()
  // A failure during the span is thrown at its end. Until then, it must not count as unhandled.
  loading.catch(() => {})
  for (const [atMs, disturbance] of disturbances) {
    await sleepUntil(startMs + atMs)
    await server.ask(disturbance)
  }
  await sleepUntil(fromMs)
  const before = await server.ask('figures')
  await sleepUntil(toMs)
  const between = betweenOf(before, await server.ask('figures'))
  return { tallies: await loading, between }
}

async function measure(row, server, { bystander, others }, seconds) {
  const startMs = clockMs() + LEAD_MS
  const settledMs = startMs + row.settleMs
  // An event counts from its first request, which a timer may send a millisecond early.
  const fromMs = row.isEvent ? startMs - LEAD_MS : settledMs
  const plan = { port: server.port, secure: row.secure, startMs, fromMs, toMs: settledMs + seconds * 1000 }
  const load = () =>
    Promise.all([
      row.bystander.length > 0 ? bystander.ask({ ...plan, behaviours: row.bystander }) : NOBODY,
      others.ask({ ...plan, behaviours: row.others(plan.toMs - startMs) }),
    ])
  const { tallies, between } = row.isEvent
    ? await measureEvent(server, load)
    : await measureSpan(server, load, row, plan)
  const [ofBystander, ofOthers] = tallies
  if (ofBystander.sent + ofOthers.sent === 0) throw new Error('the clients sent nothing in time')
  return {
    bystander: ofBystander,
    others: ofOthers,
    goodput: row.isEvent ? ofOthers.ok : (ofBystander.answered + ofOthers.answered) / seconds,
    shedPerSecond: (ofBystander.shedAnswers + ofOthers.shedAnswers) / between.seconds,
    ...between,
  }
}

/**
 * @param {any} row of bench/healthy/rows.js
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
    const bystander = await start(startClient('client.js'))
    const others = await start(startClient(row.client))
    if (row.isWarmed) await warm(server, bystander)
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

/** Repeats a run if it failed or other processes used the server's core, and takes the calmest. */
async function run(row, { attempts = 1, ...options }) {
  let calmest
  let failure
  for (let attempt = 0; attempt < attempts; attempt++) {
    const result = await runOnce(row, options).catch((error) => {
      failure = error
    })
    if (result === undefined) continue
    if (calmest === undefined || result.foreign < calmest.foreign) calmest = result
    if (calmest.foreign <= MAX_FOREIGN) break
  }
  if (calmest === undefined) throw failure
  return calmest
}

module.exports = { run, startClient, startService }
