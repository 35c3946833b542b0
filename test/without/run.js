'use strict'
// npm run without [-- FEATURE ...]
//
// Proves that a feature can be removed: makes a copy of the tree without its folder and its entry in
// src/feature-list.js, and there checks the types, and runs the unit tests of the core and of the other
// features. A test that names the feature is left out, as whoever removes the feature would do. Some 3
// minutes a feature.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { FEATURES } = require('../../src/feature-list')

const ROOT = path.join(__dirname, '..', '..')
const COPIED = [
  'src',
  'test',
  'bench',
  'docs',
  'examples',
  'index.d.ts',
  'async-errors.d.ts',
  'package.json',
  'CONTRIBUTING.md',
  'tsconfig.json',
]
/** What is left out with a feature, because it does not start without it. @param {string} name */
const dependentsOf = (name) =>
  FEATURES.filter(({ needs = [] }) => needs.some((need) => need === name)).map((each) => each.name)
/**
 * How a test names a feature whose name is not enough: by its folder, by its members and options, or by its
 * metrics.
 */
const NAMES = {
  autoscaling: /features\/autoscaling|autoscal|pressure_ratio/i,
  admin: /features\/admin|\badmin|\.listen\(\{|openAdmin/i,
  balancer: /features\/balancer|balancer|\.agent\(|orca|maxPressure/i,
  bulkheads: /features\/bulkheads|bulkhead|\.limit\(/i,
  deadlines: /features\/deadlines|deadline|requestStart|\.remaining\(/i,
  doctor: /features\/doctor|diagnose|doctor|finding/i,
  fleet: /features\/fleet|fleet|\bworkers?\b|clusterPrimary/i,
  opentelemetry: /features\/opentelemetry|opentelemetry|metricProducer/i,
  outgoing: /features\/outgoing|outgoing|http[_.]client/i,
  pools: /features\/pools|\bpools?\b/i,
  pressure: /features\/pressure|pressure|shouldDegrade/i,
  releases: /features\/releases|\breleases?\b|build_info/i,
  'abort-signals': /features\/abort-signals|\.signal\(/i,
  sockets: /features\/sockets|\.sockets\(|snapshot\(\)\.sockets|socket\.io|spillway_socket/i,
  stalls: /features\/stalls|\bstalls?\b/i,
}
/** @param {string} name of a feature @returns {RegExp} what a test that names it has in its text */
const namesOf = (name) => NAMES[name] ?? new RegExp(name, 'i')
/** @param {string} name of a feature @returns {RegExp} its entry in src/feature-list.js */
const entryOf = (name) =>
  new RegExp(`^  \\{ name: '${name}'.*\\n|^  \\{\\n    name: '${name}',\\n(?:    .*\\n)*  \\},\\n`, 'm')
/** Tests of the whole tree: of its documents, its package and its examples. */
const OF_THE_TREE = ['docs', 'package', 'examples', 'bench', 'cli', 'without', 'simulation', 'transparency']

/** @param {string[]} names */
function copyWithout(names) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-without-'))
  for (const name of COPIED)
    fs.cpSync(path.join(ROOT, name), path.join(folder, name), {
      recursive: true,
      filter: (from) => path.basename(from) !== 'node_modules',
    })
  fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'))
  const list = path.join(folder, 'src', 'feature-list.js')
  let text = fs.readFileSync(list, 'utf8')
  for (const name of names) {
    fs.rmSync(path.join(folder, 'src', 'features', name), { recursive: true })
    const entry = entryOf(name)
    if (!entry.test(text)) throw new Error(`src/feature-list.js has no entry of '${name}'`)
    text = text.replace(entry, '')
    // The members that start it remain, and throw.
    text = text.replace(new RegExp(`@import \\{ (\\w+) \\} from './features/${name}/.*`), '@typedef {any} $1')
  }
  fs.writeFileSync(list, text)
  if (names.some((name) => name === 'admin' || name === 'stalls'))
    fs.rmSync(path.join(folder, 'src', 'blocked-thread.js'))
  // The command line asks an admin server: it goes with it.
  if (names.includes('admin')) fs.rmSync(path.join(folder, 'src', 'cli'), { recursive: true })
  return folder
}

/** @param {string} folder @param {string[]} names */
function removeWhatNames(folder, names) {
  const isNamed = (text) => names.some((name) => namesOf(name).test(text))
  const kept = []
  const left = []
  for (const entry of fs.readdirSync(path.join(folder, 'test'), { recursive: true, encoding: 'utf8' })) {
    const [part] = entry.split(path.sep)
    if (!/\.test\.js$|^types\/.*\.ts$/.test(entry) || entry.split(path.sep).length > 2) continue
    const file = path.join(folder, 'test', entry)
    if (
      OF_THE_TREE.includes(part) ||
      names.includes(part) ||
      part === 'without-features.test.js' ||
      isNamed(fs.readFileSync(file, 'utf8'))
    ) {
      left.push(entry)
      fs.rmSync(file)
    } else if (entry.endsWith('.test.js')) kept.push(file)
  }
  return { kept, left }
}

/** @param {string} folder @param {string[]} command */
const run = (folder, [program, ...args]) =>
  spawnSync(program, args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { ...process.env, FORCE_COLOR: '0' },
  })

/** @param {string} tap */
const failuresIn = (tap) =>
  [...tap.matchAll(/^ *not ok[^\n]*\n(?:(?! *(?:ok|not ok|# )).*\n){0,14}/gm)].map(([text]) => text).join('')

/** @param {string} name @returns {boolean} whether everything passed */
function prove(name) {
  const names = [name, ...dependentsOf(name)]
  const folder = copyWithout(names)
  try {
    const { kept, left } = removeWhatNames(folder, names)
    const types = run(folder, ['npx', 'tsc', '-p', 'tsconfig.json'])
    const tests = run(folder, [process.execPath, 'test/unit.js', ...kept])
    const [, passed] = /^(?:#|ℹ) pass (\d+)/m.exec(tests.stdout) ?? []
    const [, failed] = /^(?:#|ℹ) fail (\d+)/m.exec(tests.stdout) ?? []
    const isRight = types.status === 0 && tests.status === 0
    console.log(
      `without ${names.join(' and ')}: types ${types.status === 0 ? 'right' : 'wrong'}; ${kept.length} files of tests, ${left.length} left out: ${passed} passed, ${failed} failed`
    )
    if (types.status !== 0) console.log(types.stdout.slice(0, 3000))
    if (tests.status !== 0) console.log(failuresIn(tests.stdout) || tests.stderr)
    return isRight
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

function main() {
  const given = process.argv.slice(2)
  const features = FEATURES.map(({ name }) => name)
  const unknown = given.find((name) => !features.includes(name))
  if (unknown !== undefined) {
    console.error(`There is no feature '${unknown}'. There are: ${features.join(', ')}.`)
    process.exitCode = 2
  } else {
    const results = (given.length > 0 ? given : features).map(prove)
    process.exitCode = results.every(Boolean) ? 0 : 1
  }
}

if (require.main === module) main()

module.exports = { dependentsOf, entryOf, namesOf }
