'use strict'
// npm run bench lists the benches npm run bench -- NAME [flags] runs a bench; NAME --help prints its help,
// and --node <path> runs it with another Node

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { BENCHES } = require('./benches')
const { didYouMean } = require('./support/nearest')

const TABLES = { name: 'tables', nodeArgs: [] }
const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])
const WRONG_USAGE = 2
const WIDTH = 13

function list() {
  const lines = BENCHES.flatMap(({ name, proves, takes, needsQuiet }) => [
    `${name.padEnd(WIDTH)}${proves}`,
    `${' '.repeat(WIDTH)}${takes}${needsQuiet ? '; needs a quiet machine' : ''}`,
  ])
  return `npm run bench -- NAME [flags]

${lines.join('\n')}

tables       Writes the tables of the saved results into README.md and docs/. Takes a second.

NAME --help lists the flags of a bench. --node <path> runs a bench with another Node.
The packages to compare with are installed apart: npm ci --prefix bench/peers
`
}

/** @returns {{ node: string, flags: string[] }} the Node to run with, and the flags that are the bench's */
function takeNode(given) {
  const at = given.findIndex((flag) => flag === '--node' || flag.startsWith('--node='))
  if (at === -1) return { node: process.execPath, flags: given }
  const hasValue = given[at] !== '--node'
  const node = hasValue ? given[at].slice('--node='.length) : given[at + 1]
  if (!isFile(node)) fail(`--node takes the path of a node binary, not '${node ?? ''}'.`)
  return { node: path.resolve(node), flags: given.toSpliced(at, hasValue ? 1 : 2) }
}

const isFile = (file) =>
  file !== undefined && (fs.statSync(file, { throwIfNoEntry: false })?.isFile() ?? false)

/** @returns {never} */
function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(WRONG_USAGE)
}

function run(bench, given) {
  const { node, flags } = takeNode(given)
  const args = [...(bench.nodeArgs ?? []), path.join(__dirname, bench.name), ...flags]
  const child = spawn(node, args, { stdio: 'inherit' })
  // A bench that outlives this process would disturb the next.
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal))
  child.on('error', ({ message }) => fail(`${node} does not start: ${message}`))
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + os.constants.signals[/** @type {NodeJS.Signals} */ (signal)]
  })
}

function main([name, ...flags]) {
  if (name === undefined || name === '--help' || name === '-h') return void process.stdout.write(list())
  const all = [...BENCHES, TABLES]
  const bench = all.find((each) => each.name === name)
  if (bench !== undefined) return run(bench, flags)
  const names = all.map((each) => each.name)
  fail(`There is no bench '${name}'.${didYouMean(name, names)} npm run bench lists all.`)
}

main(process.argv.slice(2))
