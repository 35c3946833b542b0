'use strict'
// npm run transparency -- [options] [suite ...]
//
// Runs test suites of packages that servers are made of, plain and with spillway put into their process, and
// compares test by test how each ended and what it noted. Ends with 1 where anything differs, or where
// spillway saw no request. "failing" counts the tests that fail without spillway.
//
// A suite such as "express's own" clones the repository of that package from github.com. An existing clone is
// used if it is in FOLDER/checkouts/NAME, at the commit that repositories.js names. For a mirror, tell Git:
// git config --global url.MIRROR.insteadOf https://github.com/
//
//   --node VERSION   another Node than this one, such as 24, by the npm package `node`
//   --way WAY        attach, wrap, middleware, register or sockets; by default each that fits the suite
//   --folder FOLDER  where the packages are installed (by default spillway-transparency in the temporary folder)
//   --break WHAT     header, order or listener: breaks something on purpose, to see that it is found
//   --list           the suites
//   --help           this text

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { differences, parting } = require('./differences')
const { outcomesOf } = require('./outcomes')
const { Progress } = require('./progress')
const { obtain } = require('./repositories')
const { nodeOf, prepare, run } = require('./sandbox')
const { suitesIn } = require('./suites')

/** How often both are run again where they differ. */
const REPEATS = 2
/** Differences of a suite that are told one by one: where a whole file fails, they are hundreds. */
const MAX_TOLD = 20
const OPTIONS = /** @type {const} */ ({
  node: { type: 'string' },
  way: { type: 'string' },
  folder: { type: 'string', default: path.join(os.tmpdir(), 'spillway-transparency') },
  break: { type: 'string' },
  list: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
})
const WAYS = ['attach', 'wrap', 'middleware', 'register', 'sockets']
const BREAKS = ['header', 'order', 'listener']

const help = () =>
  fs
    .readFileSync(__filename, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('//'))
    .map((line) => line.slice(3))
    .join('\n')

const progress = new Progress()

class Run {
  #at = 0
  #count
  #how
  #ways
  /** Suites whose repository could not be had. */
  absent = 0
  differing = 0
  tests = 0
  compared = 0

  constructor(how, ways, count) {
    this.#count = count
    this.#how = how
    this.#ways = ways
  }

  async suite(suite) {
    const { name } = suite
    this.#at++
    const without = [await this.#once(suite, undefined)]
    const tests = without[0].outcomes.size
    const failing = [...without[0].outcomes.values()].filter(({ status }) => status === 'fail').length
    this.tests += tests
    const cells = []
    const found = []
    for (const way of this.#ways) {
      if (!suite.ways.includes(way)) {
        cells.push('-')
        continue
      }
      const odd = await this.#compare(suite, way, without)
      this.compared += tests
      this.differing += odd.length
      cells.push(odd.length === 0 ? 'same' : `${odd.length} differ`)
      found.push(...odd.map((each) => ({ ...each, way })))
    }
    if (tests === 0) found.push(this.#nothing(name, 'no test ran'))
    progress.line(row(name, tests, failing === 0 ? '' : failing, ...cells))
    for (const each of found.slice(0, MAX_TOLD)) this.#tell(name, each)
    if (found.length > MAX_TOLD) progress.line(`  DIFFERS  ${name}: and ${found.length - MAX_TOLD} more`)
  }

  /** @param {any[]} without runs without spillway, which repeats add to */
  async #compare(suite, way, without) {
    const given = [await this.#once(suite, way)]
    const odd = () =>
      differences(
        without.map(({ outcomes }) => outcomes),
        given.map(({ outcomes }) => outcomes)
      ).filter(({ name }) => !suite.counting?.[way]?.includes(name))
    for (let i = 0; i < REPEATS && odd().length > 0; i++) {
      without.push(await this.#once(suite, undefined))
      given.push(await this.#once(suite, way))
    }
    const complaints = new Set(given.flatMap((each) => each.complaints))
    if (given.every(({ requests }) => requests === 0))
      complaints.add('spillway saw no request: this proves nothing')
    return [...[...complaints].map((name) => ({ name })), ...odd()]
  }

  async #once(suite, way) {
    const onStart = (at, count) =>
      progress.now(
        `${this.#at} of ${this.#count}: ${suite.name}, ${way ?? 'plain'}${count > 1 ? `, file ${at} of ${count}` : ''}`
      )
    return outcomesOf(suite, { ...this.#how, way, onStart })
  }

  withoutRepository({ name }, error) {
    this.#at++
    this.absent++
    progress.line(`${name.padEnd(NAME_WIDTH)}  NOT RUN: ${error.message}`)
  }

  #nothing(suite, name) {
    this.differing++
    return { suite, name, way: 'plain' }
  }

  #tell(suite, { name, way, without, given }) {
    progress.line(`  DIFFERS  ${suite}, ${way}: ${name}`)
    if (without === undefined) return
    const [plain, odd] = parting({ without, given })
    progress.line(`    without  ${plain}\n    with     ${odd}`)
  }
}

const NAME_WIDTH = 21

const row = (name, tests, failing, ...cells) =>
  [
    name.padEnd(NAME_WIDTH),
    String(tests).padStart(5),
    String(failing).padStart(8),
    ...cells.map((cell) => cell.padEnd(10)),
  ]
    .join('  ')
    .trimEnd()

function fail(message) {
  process.stderr.write(`${message}\n\n${help()}\n`)
  process.exit(2)
}

function readArguments() {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true })
  } catch (error) {
    return fail(/** @type {Error} */ (error).message)
  }
}

async function main() {
  const { values, positionals } = readArguments()
  if (values.help) return process.stdout.write(`${help()}\n`)
  const { folder } = values
  if (values.way !== undefined && !WAYS.includes(values.way)) fail(`there is no way ${values.way}`)
  if (values.break !== undefined && !BREAKS.includes(values.break))
    fail(`there is nothing to break in ${values.break}`)
  const names = suitesIn(folder, 0).map(({ name }) => name)
  const unknown = positionals.find((name) => !names.includes(name))
  if (unknown !== undefined) fail(`there is no suite ${unknown}`)
  if (values.list) return process.stdout.write(`${names.join('\n')}\n`)
  progress.now(`installing the packages in ${folder}`)
  await prepare(folder)
  const node = await nodeOf(values.node)
  const version = await run(node, ['-p', 'process.version'])
  progress.line(`Node ${version}, packages in ${folder}`)
  const ways = values.way === undefined ? WAYS : [values.way]
  const env = values.break === undefined ? {} : { SPILLWAY_BREAK: values.break }
  const wanted = () =>
    suitesIn(folder, Number.parseInt(version.slice(1), 10)).filter(
      ({ name }) => positionals.length === 0 || positionals.includes(name)
    )
  const failures = await obtainAll(folder, wanted())
  const suites = wanted()
  const all = new Run({ node, modules: folder, env }, ways, suites.length)
  progress.line(row('suite', 'tests', 'failing', ...ways))
  for (const suite of suites) {
    const failure = failures.get(suite.name)
    await (failure === undefined ? all.suite(suite) : all.withoutRepository(suite, failure))
  }
  const { tests, compared, differing, absent } = all
  progress.line(
    `${tests} tests, ${compared} compared with spillway: ${differing === 0 ? 'none differs' : `${differing} differ`}`
  )
  process.exitCode = differing + absent === 0 ? 0 : 1
}

/** @returns {Promise<Map<string, Error>>} by suite, why its repository could not be had */
async function obtainAll(folder, suites) {
  const failures = new Map()
  for (const { name, repository } of suites) {
    if (repository === undefined) continue
    progress.now(`cloning the repository of ${repository}`)
    try {
      await obtain(folder, repository)
    } catch (error) {
      failures.set(name, error)
    }
  }
  return failures
}

main().catch((error) => {
  progress.line(String(error?.message ?? error))
  process.exitCode = 2
})
