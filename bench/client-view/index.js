'use strict'
// npm run bench -- client-view [flags]
//
// Compares what the server says of a request, its duration and `unreadMs`, with what the client measured.
// Each request runs a synchronous pbkdf2 of some 20 ms, so that the others wait in the kernel. The goal is a
// p99 within 20 % of the client's.
//
//   --seconds 15          how long each load is measured
//   --connections 4,15    clients that send their next request after an answer
//   --save <name>         saves to bench/results/<name>-node-<major>.json (client-view)

const { fork } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const path = require('node:path')
const { readFlags } = require('../support/flags')
const { machineLine, save } = require('../support/results')

const PROCESS = path.join(__dirname, 'process.js')
const WARM_UP_MS = 2000
const flags = readFlags({ seconds: 15, connections: [Number], save: 'client-view' })
const COUNTS = flags.connections ?? [4, 15]
/**
 * A connection for all requests of a client, or one for each; and clients that pause, so that the loop idles
 * at times. Without the gate Node accepts a connection a loop turn: what a new one waits for that, no process
 * knows.
 */
const LOADS = COUNTS.flatMap((connections) => [
  { connections, mode: 'off', keepAlive: true, pauseMs: 0 },
  { connections, mode: 'off', keepAlive: true, pauseMs: connections * 30 },
  { connections, mode: 'adaptive', keepAlive: true, pauseMs: 0 },
  { connections, mode: 'adaptive', keepAlive: false, pauseMs: 0 },
  { connections, mode: 'off', keepAlive: false, pauseMs: 0 },
])

const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]
const p50And99 = (values) => {
  const sorted = [...values].sort((a, b) => a - b)
  return { p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) }
}

async function measure({ connections, mode, keepAlive, pauseMs }) {
  const child = fork(PROCESS, [mode])
  const [port] = await once(child, 'message')
  const agent = new http.Agent({ keepAlive, maxSockets: connections })
  const timesMs = []
  const startMs = performance.now()
  const endMs = startMs + WARM_UP_MS + flags.seconds * 1000
  const client = async () => {
    while (performance.now() < endMs) {
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs * 2 * Math.random()))
      const sentMs = performance.now()
      const request = http.get({ port, host: '127.0.0.1', agent })
      const [response] = await once(request, 'response')
      response.resume()
      await once(response, 'end')
      // A rejected request has no duration.
      if (sentMs > startMs + WARM_UP_MS && response.statusCode === 200)
        timesMs.push(performance.now() - sentMs)
    }
  }
  setTimeout(() => child.send('begin'), WARM_UP_MS)
  await Promise.all(Array.from({ length: connections }, client))
  child.send('report')
  const [{ durationsMs, totalsMs }] = await once(child, 'message')
  agent.destroy()
  child.disconnect()
  return { client: p50And99(timesMs), duration: p50And99(durationsMs), withUnread: p50And99(totalsMs) }
}

async function main() {
  process.stdout.write(`${machineLine()}\n`)
  const rows = []
  for (const load of LOADS) {
    const { client, duration, withUnread } = await measure(load)
    const ratio = withUnread.p99Ms / client.p99Ms
    rows.push({ ...load, client, duration, withUnread, ratio })
    const kind = `${load.mode}, ${load.connections} clients, ${load.keepAlive ? 'kept' : 'new'} connections${load.pauseMs > 0 ? ', with pauses' : ''}`
    const told = [client, duration, withUnread].map(
      ({ p50Ms, p99Ms }) => `${p50Ms.toFixed(0)}/${p99Ms.toFixed(0)}`
    )
    process.stdout.write(
      `${kind.padEnd(46)} p50/p99 ms: client ${told[0]}, duration ${told[1]}, with unread ${told[2]}: p99 ${ratio.toFixed(2)} of the client's\n`
    )
  }
  process.stdout.write(`saved ${save(flags.save, { seconds: flags.seconds, rows })}\n`)
}

main()
