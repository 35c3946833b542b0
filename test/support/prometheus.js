'use strict'
// A real Prometheus for the time of one test: its own data folder, a free loopback port, a scrape every two
// seconds. On a machine that stands still for longer than that a scrape fails, and what it would
// have told is asked for again.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')

async function freePort() {
  const server = http.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

function ready(child) {
  return new Promise((resolve, reject) => {
    let log = ''
    // Read to the end: a Prometheus that cannot write its log dies of it.
    child.stderr.on('data', (piece) => {
      log += piece
      if (log.includes('Server is ready to receive web requests')) resolve(undefined)
    })
    child.on('error', reject)
    child.on('exit', () => reject(new Error(log)))
  })
}

const PATIENCE = 480
const AGAIN_MS = 250

const configOf = (
  targets,
  rules
) => `global: { scrape_interval: 2s, scrape_timeout: 2s, evaluation_interval: 2s }
rule_files: ${JSON.stringify(rules === undefined ? [] : [rules])}
scrape_configs:
  - job_name: demo
    static_configs: [{ targets: ${JSON.stringify(targets)} }]
`

const isAnswer = (result) => result.length > 0

/** Its clock is not ours: this one place has to ask again. */
async function until(ask) {
  for (let tries = 1; ; tries++) {
    const result = await ask()
    if (isAnswer(result) || tries === PATIENCE) return result
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
  }
}

/**
 * @param {import('node:test').TestContext} t
 * @param {number} targetPort
 * @param {{ features?: string, rules?: string, targets?: string[], config?: string }} [options] features of
 *   Prometheus to be switched on, with commas between, a file of rules, targets in place of the port, and a
 *   configuration in place of the one made of them
 * @returns {Promise<{ api: (resource: string) => Promise<any>, query: (expression: string) => Promise<any[]>,
 *   answer: (expression: string) => Promise<any[]>, targets: () => Promise<any[]>,
 *   scraped: (count: number) => Promise<void> }>}
 */
async function startPrometheus(
  t,
  targetPort,
  { features, rules, targets: given = [`127.0.0.1:${targetPort}`], config = configOf(given, rules) } = {}
) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-prometheus-'))
  const file = path.join(folder, 'prometheus.yml')
  fs.writeFileSync(file, config)
  const port = await freePort()
  const args = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${path.join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]
  if (features !== undefined) args.push(`--enable-feature=${features}`)
  const child = spawn('prometheus', args, { stdio: ['ignore', 'ignore', 'pipe'] })
  t.after(async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
    fs.rmSync(folder, { recursive: true, force: true })
  })
  await ready(child)

  const api = async (resource) => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${resource}`)
    const { status, data, error } = await answer.json()
    if (status !== 'success') throw new Error(`${resource}: ${error}`)
    return data
  }
  const query = async (expression) => (await api(`query?query=${encodeURIComponent(expression)}`)).result
  const targets = async () => (await api('targets')).activeTargets
  return {
    api,
    query,
    targets,
    /** What it answers once it has an answer; nothing if it never has. */
    answer: (expression) => until(() => query(expression)),
    /** Resolves when every target has been scraped that often, and just now. */
    async scraped(count) {
      const ups = await until(() => query(`min(sum_over_time(up[10m])) >= ${count} and min(up) == 1`))
      if (!isAnswer(ups)) throw new Error(`not scraped ${count} times: ${JSON.stringify(await targets())}`)
    },
  }
}

module.exports = { freePort, startPrometheus }
