'use strict'
// npm run bench -- profiles [flags]
//
// Takes CPU profiles of an Express service under load, each in a new process, and says in how many of them
// the function that burns is the first by self time. Beside it: how long the start blocked the loop, p99 of
// the requests before the profile and while it ran (after the start), what the gate rejected, and the idle
// share of the loop by Node's figure and by the corrected one.
//
//   --runs 20         how many
//   --rate 100        requests a second
//   --seconds 3       of each profile, and of the measurement before it
//   --save <name>     saves to bench/results/<name>-node-<major>.json (profiles)

const { fork } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const { performance } = require('node:perf_hooks')
const { readFlags } = require('../support/flags')
const { requestProfile } = require('../support/request-profile')
const { machineLine, save } = require('../support/results')
const { percentile } = require('../support/statistics')

const WARM_UP_S = 2
const ROUNDS = 200_000
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const round = (value) => Math.round(value * 1000) / 1000

async function serve() {
  const express = require('express')
  const { createSpillway } = require('../../src/index.js')
  const { systemClock } = require('../../src/core/clock.js')
  const spillway = createSpillway({ logger: false, fleet: false })
  const app = express()
  app.get('/orders/:id', function showOrder(req, res) {
    res.json({ id: req.params.id, check: checksumOf(req.params.id) })
  })
  const server = app.listen(0, '127.0.0.1')
  spillway.attach(server)
  await once(server, 'listening')
  const { port: adminPort } = await spillway.listen({ port: 0 })
  const answers = {
    idle: () => ({
      atMs: performance.now(),
      nodeMs: performance.nodeTiming.idleTime,
      idleMs: systemClock.idleMs(),
    }),
    shed: () => spillway.snapshot().admission.shed.reduce((sum, { count }) => sum + count, 0),
  }
  process.on('message', (/** @type {string} */ key) => process.send?.({ answer: answers[key]() }))
  process.on('disconnect', () => process.exit())
  process.send?.({ port: server.address().port, adminPort })
}

/** What burns: about a millisecond. */
function checksumOf(id) {
  let sum = Number(id)
  for (let i = 0; i < ROUNDS; i++) sum += Math.sqrt(sum + i)
  return sum
}

async function start() {
  const child = fork(__filename, ['serve'])
  const [{ port, adminPort }] = await once(child, 'message')
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 })
  const ask = async (key) => {
    child.send(key)
    return (await once(child, 'message'))[0].answer
  }
  return { child, port, adminPort, agent, ask }
}

/** An open loop. Latency counts from the moment at which the request was due. */
async function load({ port, agent }, { rate, seconds, latencies }) {
  const beganMs = performance.now()
  const pending = []
  for (let sent = 0; sent < rate * seconds; ) {
    const dueMs = beganMs + (sent * 1000) / rate
    if (performance.now() < dueMs) {
      await wait(1)
      continue
    }
    sent++
    pending.push(
      new Promise((resolve) => {
        const done = () => resolve(latencies.push(performance.now() - dueMs))
        http
          .get({ host: '127.0.0.1', port, path: `/orders/${sent}`, agent }, (res) =>
            res.resume().on('end', done)
          )
          .on('error', resolve)
      })
    )
  }
  await Promise.all(pending)
}

/** Resolves with the figures at the start of the profile, and a promise of its result. */
async function takeProfile({ adminPort }, seconds) {
  const { res } = await requestProfile({ port: adminPort, path: `/profile?seconds=${seconds}` })
  if (res.statusCode !== 200) {
    // A busy machine made an overload.
    res.resume()
    await wait(1000)
    return takeProfile({ adminPort }, seconds)
  }
  let text = ''
  res.setEncoding('utf8').on('data', (piece) => {
    text += piece
  })
  await once(res, 'data')
  return { result: once(res, 'end').then(() => JSON.parse(text.trim().split('\n').at(-1) ?? '').result) }
}

const idleShares = (before, after) => {
  const elapsedMs = after.atMs - before.atMs
  return {
    node: round((after.nodeMs - before.nodeMs) / elapsedMs),
    corrected: round((after.idleMs - before.idleMs) / elapsedMs),
  }
}

async function runOnce({ rate, seconds }) {
  const server = await start()
  try {
    await load(server, { rate, seconds: WARM_UP_S, latencies: [] })
    const without = /** @type {number[]} */ ([])
    const idleBefore = await server.ask('idle')
    await load(server, { rate, seconds, latencies: without })
    const idleStart = await server.ask('idle')
    const shedBefore = await server.ask('shed')
    const withProfile = /** @type {number[]} */ ([])
    let isStarted = false
    const profiling = takeProfile(server, seconds).finally(() => {
      isStarted = true
    })
    // The start, too, is under load.
    while (!isStarted) await load(server, { rate, seconds: 0.1, latencies: [] })
    const { result } = await profiling
    const idleFrom = await server.ask('idle')
    await load(server, { rate, seconds: seconds - 0.5, latencies: withProfile })
    const idleProfiled = idleShares(idleFrom, await server.ask('idle'))
    const { functions, startPauseMs } = await result
    return {
      first: functions[0].name,
      share: functions[0].selfShare,
      isHandlerMarked: functions.some((row) => row.isHandler && row.name === 'showOrder'),
      startPauseMs,
      p99WithoutMs: round(percentile(without, 0.99)),
      p99WithMs: round(percentile(withProfile, 0.99)),
      idleWithout: idleShares(idleBefore, idleStart),
      idleProfiled,
      shedBefore,
      shed: (await server.ask('shed')) - shedBefore,
    }
  } finally {
    server.agent.destroy()
    server.child.disconnect()
  }
}

async function run({ runs: count, save: name, ...load }) {
  process.stdout.write(`${machineLine()}\n`)
  const runs = []
  for (let i = 0; i < count; i++) {
    const result = await runOnce(load)
    runs.push(result)
    process.stdout.write(`${JSON.stringify(result)}\n`)
  }
  const middle = (of) => round(percentile(runs.map(of), 0.5))
  const summary = {
    named: runs.filter(({ first }) => first === 'checksumOf').length,
    handlerMarked: runs.filter(({ isHandlerMarked }) => isHandlerMarked).length,
    of: count,
    startPauseMs: middle((each) => each.startPauseMs),
    p99WithoutMs: middle((each) => each.p99WithoutMs),
    p99WithMs: middle((each) => each.p99WithMs),
    p99Ratio: middle((each) => each.p99WithMs / each.p99WithoutMs),
    idleWithout: middle((each) => each.idleWithout.node),
    idleProfiledByNode: middle((each) => each.idleProfiled.node),
    idleProfiled: middle((each) => each.idleProfiled.corrected),
    shedBefore: runs.reduce((sum, { shedBefore }) => sum + shedBefore, 0),
    shed: runs.reduce((sum, { shed }) => sum + shed, 0),
  }
  process.stdout.write(`${JSON.stringify(summary)}\nsaved ${save(name, { summary, runs })}\n`)
}

if (process.argv[2] === 'serve') serve()
else run(readFlags({ runs: 20, rate: 100, seconds: 3, save: 'profiles' }))
