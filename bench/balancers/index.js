'use strict'
// npm run bench -- balancers [flags]
//
// Measures three workers behind a real HAProxy, one of which takes four times as long for each query:
//   no agent        HAProxy gives each worker a third
//   agent           HAProxy asks the agent of each worker, once a second
//   agent, retries  and sends a request that got a 503 to another worker, once
// Each worker has four connections to a database and gives them to spillway.pool(). The slow one can serve 25
// requests a second, the others 100 each. An open load of 120 a second gives the slow one 40, unless its
// weight falls. errors: answers other than 200, as a share. It counts from 20 seconds on: a weight is a mean
// of five seconds.
//
//   --rounds 3     how many rounds
//   --seconds 20   how long each run counts

const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { missingFor, startProxy } = require('../gateways/proxies')
const { readFlags } = require('../support/flags')
const { generate } = require('../support/load')
const { machineLine, save } = require('../support/results')
const { median } = require('../support/statistics')
const { headLine, progress, rowLine } = require('../support/terminal')

const SERVER = path.join(__dirname, 'server.js')
const QUERY_MS = [160, 40, 40]
const RATE = 120
const SETTLE_SECONDS = 20
const POLICIES = ['no agent', 'agent', 'agent, retries']

const { rounds, seconds } = readFlags({ rounds: 3, seconds: 20 })

async function startWorker(queryMs) {
  const child = fork(SERVER, [String(queryMs)])
  const [{ port, agentPort }] = await once(child, 'message')
  return { port, agentPort, stop: () => child.kill('SIGKILL') }
}

const configurationOf =
  (policy, workers) =>
  ({ port }) =>
    `
global
  nbthread 1
defaults
  mode http
  http-reuse always
  timeout connect 5s
  timeout client 50s
  timeout server 50s
listen service
  bind 127.0.0.1:${port}
  balance roundrobin
  ${policy === 'agent, retries' ? 'option redispatch 1\n  retries 1\n  retry-on conn-failure 503' : ''}
${workers
  .map((worker, i) => {
    const agent = policy === 'no agent' ? '' : ` agent-check agent-port ${worker.agentPort} agent-inter 1s`
    return `  server worker${i} 127.0.0.1:${worker.port} weight 100${agent}`
  })
  .join('\n')}
`

async function measured(policy) {
  const workers = await Promise.all(QUERY_MS.map(startWorker))
  try {
    const haproxy = await startProxy('haproxy', { configuration: configurationOf(policy, workers) })
    try {
      const { good, late, offered, p50Ms, p99Ms } = await generate({
        port: haproxy.port,
        arrivals: 'poisson',
        probes: false,
        deadlineMs: 2000,
        warmRequests: 0,
        warmUpSeconds: SETTLE_SECONDS,
        phases: [{ rate: RATE, seconds: SETTLE_SECONDS + seconds }],
      })
      return { errors: 1 - (good + late) / offered, p50Ms, p99Ms }
    } finally {
      await haproxy.stop()
    }
  } finally {
    for (const worker of workers) worker.stop()
  }
}

/** @type {import('../support/terminal').Column[]} */
const COLUMNS = [
  ['HAProxy', -14, ({ policy }) => policy],
  ['errors', 8, ({ errors }) => `${(errors * 100).toFixed(1)} %`],
  ['p50 ms', 7, ({ p50Ms }) => p50Ms.toFixed(0)],
  ['p99 ms', 7, ({ p99Ms }) => p99Ms.toFixed(0)],
]

async function main() {
  const missing = missingFor('haproxy')
  if (missing !== undefined) return void process.stdout.write(`${missing}\n`)
  process.stdout.write(`${machineLine()}\n`)
  const runs = POLICIES.map(() => /** @type {any[]} */ ([]))
  let done = 0
  for (let round = 0; round < rounds; round++) {
    for (const [index, policy] of POLICIES.entries()) {
      progress(`${++done} of ${POLICIES.length * rounds}`)
      runs[index].push(await measured(policy))
    }
  }
  progress('')
  const rows = POLICIES.map((policy, index) => ({
    policy,
    ...Object.fromEntries(
      Object.keys(runs[index][0]).map((name) => [name, median(runs[index].map((run) => run[name]))])
    ),
  }))
  process.stdout.write(headLine(COLUMNS))
  for (const row of rows) process.stdout.write(rowLine(COLUMNS, row))
  process.stdout.write(
    `saved ${save('balancers', { rate: RATE, queryMs: QUERY_MS, rounds, seconds, rows })}\n`
  )
}

main()
