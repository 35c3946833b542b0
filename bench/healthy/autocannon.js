'use strict'
// A client process of bench/healthy that runs autocannon, the load generator that most people try first.
// autocannon measures latency in whole milliseconds, and over answers of any status.

const { setTimeout: delay } = require('node:timers/promises')
const { peer } = require('../support/peers')
const { clockMs } = require('./clock')
const { HOST } = require('./connection')

const autocannon = peer('autocannon')

/** @param {{ port: number, startMs: number, fromMs: number, toMs: number, behaviours: any[] }} plan */
async function follow({ port, startMs, fromMs, toMs, behaviours: [{ path: target, clients }] }) {
  const load = { url: `http://${HOST}:${port}${target}`, connections: clients }
  await autocannon({ ...load, duration: (fromMs - startMs) / 1000 })
  await delay(fromMs - clockMs())
  const { statusCodeStats, errors, latency } = await autocannon({ ...load, duration: (toMs - fromMs) / 1000 })
  const count = (status) => statusCodeStats[status]?.count ?? 0
  const [ok, shed] = [count(200), count(503)]
  process.send?.({
    sent: ok + shed + errors,
    ok,
    shed,
    failed: errors,
    answered: ok,
    shedAnswers: shed,
    p99Ms: latency.p99,
  })
}

process.on('disconnect', () => process.exit())
process.on('message', follow)
process.send?.('ready')
