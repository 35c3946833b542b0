'use strict'
// Runs the artillery.yml of a story by Artillery, in place of its own clients, and reports what Artillery
// measured. As a script it speaks as http-load.js does.

const { spawn, spawnSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const ARTILLERY_FLAG = Object.freeze({ artillery: Object.freeze({ type: 'boolean' }) })
const BY_ENDPOINT = 'plugins.metrics-by-endpoint.'
const RESPONSE_TIME = `${BY_ENDPOINT}response_time.`
/** Artillery's names of its figures, and what the figures are. */
const TIMES = {
  'socketio.response_time': 'message, until acknowledged',
  'vusers.session_length': 'whole session, with its pauses',
}

const isInstalled = () => spawnSync('artillery', ['--version'], { stdio: 'ignore' }).status === 0

/** @param {{ artillery?: boolean }} own @returns {string | undefined} */
const artilleryMissing = ({ artillery = false } = {}) =>
  artillery && !isInstalled()
    ? 'Artillery is not installed: npm install --global artillery. Without --artillery the story brings its own clients.'
    : undefined

const artilleryLoad = (folder) => ({ script: __filename, file: path.join(folder, 'artillery.yml') })

/** @param {any} aggregate of the report of Artillery @param {number} seconds */
function partsOf({ counters = {}, summaries = {} }, seconds) {
  const parts = Object.keys(summaries)
    .filter((key) => key in TIMES || key.startsWith(RESPONSE_TIME))
    .map((key) => partOf(key, summaries[key], counters, seconds))
  const sessions = parts.find(({ name }) => name === TIMES['vusers.session_length'])
  const failed = counters['vusers.failed'] ?? 0
  if (sessions !== undefined) Object.assign(sessions, { errors: failed, unanswered: failed })
  return parts
}

function partOf(key, { count, max, mean, p50, p95, p99 }, counters, seconds) {
  const endpoint = key.startsWith(RESPONSE_TIME) ? key.slice(RESPONSE_TIME.length) : undefined
  const answered = endpoint === undefined ? {} : codesOf(endpoint, counters)
  return {
    name: endpoint ?? TIMES[key],
    failures: {},
    count,
    perSecond: Math.round((10 * count) / seconds) / 10,
    meanMs: mean,
    p50Ms: p50,
    p95Ms: p95,
    p99Ms: p99,
    maxMs: max,
    errors: 0,
    unanswered: 0,
    rejected: 0,
    ...answered,
    seconds: [],
  }
}

function codesOf(endpoint, counters) {
  let [errors, rejected] = [0, 0]
  for (const [key, count] of Object.entries(counters)) {
    const code = Number(key.match(/\.codes\.(\d+)$/)?.[1])
    if (!key.startsWith(`${BY_ENDPOINT}${endpoint}.`) || !(code >= 500)) continue
    if (code === 503) rejected += count
    else errors += count
  }
  return { errors, rejected }
}

async function run({ url, file }, onChild) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-artillery-'))
  process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
  const output = path.join(folder, 'report.json')
  const child = spawn('artillery', ['run', '--quiet', '--target', url, '--output', output, file], {
    env: { ...process.env, ARTILLERY_DISABLE_TELEMETRY: 'true' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  onChild(child)
  const startedMs = performance.now()
  await once(child, 'exit')
  const seconds = (performance.now() - startedMs) / 1000
  const { aggregate } = JSON.parse(fs.readFileSync(output, 'utf8'))
  process.send?.({ report: { seconds, parts: partsOf(aggregate, seconds) } }, () => process.exit())
}

if (require.main === module) {
  let child
  process.on('disconnect', () => {
    child?.kill('SIGTERM')
    process.exit()
  })
  process.once('message', (message) => {
    // Artillery ends when its scenario does, and writes its report when it is interrupted.
    process.once('message', () => child?.kill('SIGINT'))
    run(message, (started) => (child = started))
  })
}

module.exports = { ARTILLERY_FLAG, artilleryLoad, artilleryMissing, partsOf }
