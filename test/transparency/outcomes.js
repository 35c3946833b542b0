'use strict'
// Runs the files of one suite in processes of their own, without spillway or with it, and gives the outcome of every test.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const PRELOAD = path.join(__dirname, 'preload.js')
const REPORTER = path.join(__dirname, 'reporter.js')
/** A file that hangs: its tests that have not ended by then are missing. */
const LONGEST_MS = 120_000
/** Of what a process wrote to standard error, its end is shown where it left no report. */
const MOST_SAID = 1000

/**
 * @param {{ files: string[] }} suite
 * @param {{ node: string, folder: string, way?: string, env?: object, onFile?: () => void }} how
 * @returns {Promise<{ outcomes: Map<string, any>, requests: number, complaints: string[] }>}
 */
async function outcomesOf({ files }, { node, folder, way, env = {}, onFile }) {
  const outcomes = new Map()
  const complaints = new Set()
  let requests = 0
  for (const file of files) {
    const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-suite-'))
    try {
      const { lines, report, end } = await runFile(file, { node, folder, way, env, scratch })
      const prefix = files.length > 1 ? `${path.basename(file, '.js')}: ` : ''
      collect(lines, prefix, outcomes)
      if (way !== undefined) {
        requests += report?.requests ?? 0
        for (const complaint of complaintsOf(report, end)) complaints.add(`${prefix}${complaint}`)
      }
    } finally {
      fs.rmSync(scratch, { recursive: true, force: true })
    }
    onFile?.()
  }
  return { outcomes, requests, complaints: [...complaints] }
}

async function runFile(file, { node, folder, way, env, scratch }) {
  const [results, reported] = ['results', 'report'].map((name) => path.join(scratch, name))
  const args = [`--test-reporter=${REPORTER}`, `--test-reporter-destination=${results}`, file]
  const injected = { SPILLWAY_WAY: way, SPILLWAY_REPORT: reported }
  const child = spawn(node, way === undefined ? args : ['--require', PRELOAD, ...args], {
    cwd: folder,
    // Where a runner of node:test has started this, a child would report to that.
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env, ...(way === undefined ? {} : injected) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (piece) => {
    said = `${said}${piece}`.slice(-MOST_SAID)
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS)
  const [code, signal] = await once(child, 'close')
  clearTimeout(timer)
  const end = `it ended by ${signal ?? code}${said === '' ? '' : `: ${said.trim()}`}`
  return { lines: read(results), report: read(reported).map((line) => JSON.parse(line))[0], end }
}

const read = (file) => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').filter(Boolean) : [])

/** Two tests of one name are told apart by their number. */
function collect(lines, prefix, outcomes) {
  let latest
  for (const { name, status, error, note } of lines.map((line) => JSON.parse(line))) {
    if (note !== undefined) {
      latest.notes.push(note)
      continue
    }
    let key = `${prefix}${name}`
    for (let i = 2; outcomes.has(key); i++) key = `${prefix}${name} (${i})`
    latest = { status, error, notes: [] }
    outcomes.set(key, latest)
  }
}

/** What no test may see: a request that was turned away, or a mistake of ours that was caught. */
function complaintsOf(report, end) {
  if (report === undefined) return [`no report of spillway: ${end}`]
  const { shed, internalErrors } = report
  return [
    ...shed.map(({ reason, count }) => `${count} turned away for ${reason}`),
    ...Object.entries(internalErrors).map(([place, count]) => `${count} internal errors in ${place}`),
  ]
}

module.exports = { outcomesOf }
