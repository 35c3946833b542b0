'use strict'
// npm run test:unit, or: node test/unit.js FILE...
//
// Runs every *.test.js, or these. A folder in TOGETHER leaves the process as it found it, so up to
// MAX_TOGETHER of its files run in one: a process of their own costs .2 s of CPU, and .3 s for Express and
// Spillway. Each other file has its own process. So has what reads this process's collections, loop or
// stalls: in a heap that other tests have filled, a major collection falls into a test.

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const TOGETHER = [
  'admin',
  'answer',
  'doctor',
  'errors',
  'gate',
  'histogram',
  'http',
  'lifecycle',
  'log',
  'metrics',
  'options',
  'pools',
  'redaction',
  'request',
  'route',
  'servers',
  'sockets',
]
/** So that no process runs for much longer than the others. */
const MAX_TOGETHER = 8
/** Files of these folders that have their own process. */
const ALONE = [
  // Restify changes the prototypes of Node's requests and responses.
  'errors/malformed-bodies',
  'gate/between-requests',
  'gate/custom-answers',
  'gate/logged-in',
  'http/attach',
  'http/restify',
  'log/request-fields',
  // light-my-request too.
  'request/body-sizes',
  'request/injection',
  // They change a module before others load it.
  'histogram/wrap',
  // They read the heap, V8's hidden classes, or how long the loop took.
  'request/foreign-hidden-classes',
  'request/load-slope',
  'request/own-hidden-classes',
  'request/steadiness',
  'route/routers-without-end',
  'sockets/hostile',
  'sockets/stalls',
]
/**
 * Large young generations and one thread for the collector: on two cores, four processes disturb each other
 * less.
 */
const NODE_FLAGS = ['--max-semi-space-size=64', '--single-threaded-gc']
const TEST_FLAGS = ['--test', '--test-concurrency=4', '--test-timeout=600000']

/** @returns {string[]} paths from the folder above, sorted */
function allFiles() {
  const files = fs.readdirSync(__dirname, { recursive: true, encoding: 'utf8' })
  const isTest = (file) => file.endsWith('.test.js') && file.split(path.sep).length <= 2
  return files
    .filter(isTest)
    .sort()
    .map((file) => path.join(__dirname, file))
}

/** @param {string[]} files @param {string} folder where the files that load a whole folder are written */
function entries(files, folder) {
  const folders = new Map()
  const alone = []
  for (const file of files) {
    const name = path.basename(path.dirname(file))
    const isAlone = !file.endsWith('.test.js') || ALONE.includes(`${name}/${path.basename(file, '.test.js')}`)
    if (isAlone || !TOGETHER.includes(name)) alone.push(file)
    else folders.set(name, [...(folders.get(name) ?? []), file])
  }
  const together = [...folders].flatMap(([name, all]) => {
    const count = Math.ceil(all.length / MAX_TOGETHER)
    return Array.from({ length: count }, (_, part) => {
      const entry = path.join(folder, `${name}-${part + 1}.js`)
      const some = all.filter((_file, i) => i % count === part)
      fs.writeFileSync(entry, some.map((file) => `require(${JSON.stringify(file)})\n`).join(''))
      return entry
    })
  })
  // They take longer than a file, so they start first.
  return [...together, ...alone]
}

function main() {
  const given = process.argv.slice(2).map((file) => path.resolve(file))
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-tests-'))
  const files = entries(given.length > 0 ? given : allFiles(), folder)
  const child = spawn(process.execPath, [...NODE_FLAGS, ...TEST_FLAGS, ...files], { stdio: 'inherit' })
  // Ctrl-C reaches the child too, whose end is waited for.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill())
  child.on('exit', (code) => {
    fs.rmSync(folder, { recursive: true, force: true })
    process.exitCode = code ?? 1
  })
}

main()
