'use strict'
// Runs the files of one suite in processes of their own, without spillway or with it, and gives the outcome
// of every test.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const PRELOAD = path.join(__dirname, 'preload.js')
const REPORTER = path.join(__dirname, 'reporter.js')
const TOGETHER = path.join(__dirname, 'together.js')
const MOCHA_REPORTER = path.join(__dirname, 'mocha-reporter.js')
/** A project that allows its tests less has no machine in mind that does something else too. */
const MOCHA = ['--timeout', '10000', '--reporter', MOCHA_REPORTER]
/** A file that hangs: its tests that have not ended by then are missing. */
const LONGEST_MS = 120_000
/** Of what a process wrote to standard error, its end is shown where it left no report. */
const MAX_SAID = 1000

/**
 * @param {{ folder: string, files: string[], mocha?: string[], repository?: string }} suite
 * @param {object} how
 * @param {string} how.node
 * @param {string} how.modules the folder that holds Mocha
 * @param {string} [how.way]
 * @param {object} [how.env]
 * @param {(at: number, count: number) => void} [how.onStart] called before each process
 * @returns {Promise<{ outcomes: Map<string, any>, requests: number, complaints: string[] }>}
 */
async function outcomesOf(suite, { node, modules, way, env = {}, onStart }) {
  const outcomes = new Map()
  const complaints = new Set()
  let requests = 0
  const commands = commandsOf(suite, modules)
  for (const [i, { name, argsFor }] of commands.entries()) {
    onStart?.(i + 1, commands.length)
    const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-suite-'))
    try {
      const how = { node, folder: suite.folder, way, env, scratch }
      const { lines, report, end } = await runProcess(argsFor, how)
      const prefix = commands.length > 1 ? `${name}: ` : ''
      collect(lines, prefix, outcomes)
      if (way !== undefined) {
        requests += report?.requests ?? 0
        for (const complaint of complaintsOf(report, end)) complaints.add(`${prefix}${complaint}`)
      }
    } finally {
      fs.rmSync(scratch, { recursive: true, force: true })
    }
  }
  return { outcomes, requests, complaints: [...complaints] }
}

/**
 * Tests of node:test have a process for each file. Those of a repository have one together, as Mocha runs
 * them.
 */
function commandsOf({ files, mocha, repository }, modules) {
  if (mocha !== undefined) {
    const program = path.join(modules, 'node_modules', 'mocha', 'bin', '_mocha')
    return [{ name: 'mocha', argsFor: () => [program, ...MOCHA, ...mocha, ...files] }]
  }
  const byNodeTest = (name, ...given) => ({
    name,
    argsFor: (results) => [`--test-reporter=${REPORTER}`, `--test-reporter-destination=${results}`, ...given],
  })
  if (repository !== undefined) return [byNodeTest(repository, TOGETHER, ...files)]
  return files.map((file) => byNodeTest(path.basename(file, '.js'), file))
}

async function runProcess(argsFor, { node, folder, way, env, scratch }) {
  const [results, reported] = ['results', 'report'].map((name) => path.join(scratch, name))
  const args = argsFor(results)
  const injected = { SPILLWAY_WAY: way, SPILLWAY_REPORT: reported }
  const child = spawn(node, way === undefined ? args : ['--require', PRELOAD, ...args], {
    cwd: folder,
    // Where a runner of node:test has started this, a child would report to that.
    env: {
      ...process.env,
      NODE_TEST_CONTEXT: undefined,
      SPILLWAY_RESULTS: results,
      ...env,
      ...(way === undefined ? {} : injected),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (piece) => {
    said = `${said}${piece}`.slice(-MAX_SAID)
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
