'use strict'
// npm run bench -- loop-time [flags]
//
// Compares what Spillway says each route cost the event loop with a CPU profile of the same seconds, in six
// Express applications that work before their handlers, after an await, between several, and in callbacks.
//
//   --applications bodies,calls   only these
//   --rate 25                     requests a second
//   --seconds 15                  of each profile
//   --save <name>                 saves to bench/results/<name>-node-<major>.json (loop-time)

const { fork } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const path = require('node:path')
const { readFlags } = require('../support/flags')
const { machineLine, save } = require('../support/results')

const APPLICATIONS = ['bodies', 'calls', 'pools', 'timers', 'pages', 'graphql']
const UPSTREAM_MS = 8
const WARM_UP_S = 3
const ROUTE_WIDTH = 22

const flags = readFlags(
  { applications: APPLICATIONS, rate: 25, seconds: 15, save: 'loop-time' },
  { applications: APPLICATIONS }
)
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function startUpstream() {
  const server = http.createServer((_req, res) => setTimeout(() => res.end('{}'), UPSTREAM_MS))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server
}

/** An open loop with arrivals at random. */
async function load({ port, mix, agent, seconds }) {
  const endMs = performance.now() + seconds * 1000
  let dueMs = performance.now()
  while (dueMs < endMs) {
    await sleep(Math.max(0, dueMs - performance.now()))
    const [method, route, body] = mix[Math.floor(Math.random() * mix.length)]
    const headers = body === undefined ? {} : { 'Content-Type': 'application/json' }
    const req = http.request({ agent, port, host: '127.0.0.1', method, path: route, headers }, (res) =>
      res.resume()
    )
    req.on('error', () => {})
    req.end(body)
    dueMs += (-Math.log(1 - Math.random()) * 1000) / flags.rate
  }
}

async function measure(name, upstream) {
  const child = fork(path.join(__dirname, 'server.js'), [name, upstream])
  const onExit = (code) => {
    throw new Error(`The application ${name} ended with ${code}.`)
  }
  child.on('exit', onExit)
  const [{ port, mix }] = await once(child, 'message')
  const agent = new http.Agent({ keepAlive: true, maxSockets: 256 })
  await load({ port, mix, agent, seconds: WARM_UP_S })
  // The load begins before the profile, and ends after it.
  const loading = load({ port, mix, agent, seconds: flags.seconds + 2 })
  await sleep(1000)
  child.send(flags.seconds)
  const [{ answer }] = await once(child, 'message')
  const { profiled, counted } = answer
  await loading
  agent.destroy()
  child.off('exit', onExit)
  child.disconnect()
  return mix.map(([, route]) => {
    const key = route.slice(1)
    return { application: name, route, profiledMs: profiled[key] ?? 0, countedMs: counted[key] ?? 0 }
  })
}

const line = ({ application, route, profiledMs, countedMs }) =>
  `${`${application} ${route}`.padEnd(ROUTE_WIDTH)} profile ${profiledMs.toFixed(0).padStart(6)} ms  counted ${countedMs
    .toFixed(0)
    .padStart(6)} ms  ${(countedMs / profiledMs).toFixed(2)}`

async function main() {
  console.log(machineLine())
  const upstream = await startUpstream()
  const rows = []
  for (const name of flags.applications) {
    const measured = await measure(name, `http://127.0.0.1:${upstream.address().port}/`)
    for (const row of measured) console.log(line(row))
    rows.push(...measured)
  }
  upstream.close()
  upstream.closeAllConnections()
  console.log(`saved to ${save(flags.save, { rate: flags.rate, seconds: flags.seconds, rows })}`)
}

main()
