'use strict'
// npm run mutants -- [flags]
//
// Changes one line of src/ at a time, in a copy, and runs the tests of the folder that the file is in. A
// mutant that no test notices survives: something that the tests do not prove.
//
//   --sample 200          how many mutants, chosen at random
//   --seed 1              of the choice
//   --files core/gate     only files whose path in src/ begins so
//   --folders a,b         of the chosen mutants, only those in these folders of core/ and features/
//   --tests a.js,b.js     these test files, instead of those of the folder (and the worlds, for the gate)
//   --seconds 60          the time of the tests of one mutant; what takes longer is killed, and so is the mutant
//   --save <name>         saves to bench/results/<name>-node-<major>.json (mutants)

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const readline = require('node:readline')
const { readFlags } = require('../../bench/support/flags')
const { save } = require('../../bench/support/results')
const { randomFrom } = require('../simulation/random')
const { mutantsOf } = require('./mutate')

const ROOT = path.join(__dirname, '..', '..')
const COPIED = ['src', 'test', 'bench', 'examples', 'docs', 'package.json', 'index.d.ts', 'async-errors.d.ts']
const flags = readFlags({
  sample: 200,
  seed: 1,
  files: '',
  folders: [String],
  tests: [String],
  seconds: 60,
  save: 'mutants',
})

function makeCopy() {
  const copy = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-mutants-'))
  const filter = (from) => path.basename(from) !== 'node_modules'
  for (const name of COPIED)
    fs.cpSync(path.join(ROOT, name), path.join(copy, name), { recursive: true, filter })
  fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'))
  return copy
}

/** @returns {{ file: string, line: number, before: string, after: string, source: string }[]} */
function chooseMutants() {
  const files = fs
    .readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.js') && file.startsWith(flags.files))
    .sort()
  const all = files.flatMap((file) =>
    mutantsOf(fs.readFileSync(path.join(ROOT, 'src', file), 'utf8')).map((each) => ({ file, ...each }))
  )
  const random = randomFrom(flags.seed)
  const drawn = all.map((each) => ({ each, at: random() })).sort((a, b) => a.at - b.at)
  const chosen = drawn.slice(0, flags.sample).map(({ each }) => each)
  return chosen.filter(({ file }) => flags.folders === undefined || flags.folders.includes(folderOf(file)))
}

/** Folders of src/ whose rules the tests of other folders prove too. */
const PROVED_BY = { answer: ['errors', 'gate'], gate: ['simulation'], servers: ['lifecycle'] }

/** The folder of core/ or features/, or of src/. */
const folderOf = (file) => file.replace(/^(core|features)[/\\]/, '').split(path.sep)[0]

/**
 * @returns {string[]} the test files of a folder of src/; those of test/ itself for a file that is in none
 */
function testsOf(copy, file) {
  if (flags.tests !== undefined) return flags.tests
  const folder = folderOf(file)
  const folders = [folder, ...(PROVED_BY[folder] ?? [])]
  const tests = folders.flatMap((each) => testsIn(copy, path.join('test', each)))
  return tests.length > 0 ? tests : testsIn(copy, 'test')
}

function testsIn(copy, folder) {
  if (!fs.statSync(path.join(copy, folder), { throwIfNoEntry: false })?.isDirectory()) return []
  const files = fs.readdirSync(path.join(copy, folder)).filter((each) => /\.(test|program)\.js$/.test(each))
  return files.map((each) => path.join(folder, each))
}

/** Ends at the first failure. @returns {Promise<boolean>} whether the tests pass */
function passes(copy, tests) {
  const args = ['--test', '--test-concurrency=2', '--test-reporter=tap', ...tests]
  const child = spawn(process.execPath, args, {
    cwd: copy,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  const kill = () => process.kill(-Number(child.pid), 'SIGKILL')
  return new Promise((resolve) => {
    const timer = setTimeout(kill, flags.seconds * 1000)
    readline.createInterface({ input: child.stdout }).on('line', (line) => {
      if (/^ *not ok/.test(line) && child.exitCode === null && child.signalCode === null) kill()
    })
    child.on('exit', (code) => {
      clearTimeout(timer)
      resolve(code === 0)
    })
  })
}

async function main() {
  const mutants = chooseMutants()
  const copy = makeCopy()
  process.on('exit', () => fs.rmSync(copy, { recursive: true, force: true }))
  const survivors = []
  for (const [i, { file, line, before, after, source }] of mutants.entries()) {
    const target = path.join(copy, 'src', file)
    const original = fs.readFileSync(target)
    fs.writeFileSync(target, source)
    const survives = await passes(copy, testsOf(copy, file))
    fs.writeFileSync(target, original)
    if (survives) survivors.push({ file, line, before, after })
    process.stdout.write(
      `[${i + 1}/${mutants.length}] ${survives ? 'survives' : 'killed  '} src/${file}:${line} ${before} -> ${after}\n`
    )
  }
  const killed = mutants.length - survivors.length
  process.stdout.write(`${killed} of ${mutants.length} killed\n`)
  process.stdout.write(
    `saved ${save(flags.save, { seed: flags.seed, mutants: mutants.length, killed, survivors })}\n`
  )
}

main()
