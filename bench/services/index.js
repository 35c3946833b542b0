'use strict'
// npm run bench -- services [flags]
//
// Measures what Spillway costs realistic services in CPU, beside the same service with nothing, with
// Prometheus metrics (express-prom-bundle, on Koa a middleware of prom-client), and with OpenTelemetry's
// instrumentation of http and the framework. The load of a service is open and the same for all variants.
// Without anything it keeps the server's core busy for 20 to 50 % of the time. A figure is the CPU time of
// the whole server process for a unit of work, such as a request or a gigabyte. A round runs every variant
// once, each in a fresh process. A ratio is the median over the rounds of a variant over `none` of the same
// round. A run is repeated once where other processes took more than 15 % of the server's core. "?" marks
// what stayed disturbed.
//
//   --services a,b     only these services. The others stay in the file as they were saved before
//   --variants a,b     only these variants beside `none`
//   --src <folder>     adds the Spillway of another checkout's src/, as `spillway before` and `spillway attach before`
//   --rounds 3         how often each variant runs
//   --seconds 5        how long each run counts
//   --warm-up 3        how many seconds of load come before
//   --gc-threads       collects garbage with threads, as Node does. On one core they spin while they wait, which scatters
//   --quick            one round that counts for 3 seconds
//   --save <name>      saves to bench/results/<name>-node-<major>.json (services; services-part with any of the flags
//                      --variants, --src, --gc-threads and --quick)

const path = require('node:path')
const { readFlags } = require('../support/flags')
const { pinLoad } = require('../support/pinned')
const { load, machineLine, save } = require('../support/results')
const { median, scatter } = require('../support/statistics')
const { progress } = require('../support/terminal')
const { MAX_FOREIGN, measureQuietly } = require('./measure')
const { SERVICES } = require('./services')
const { BASE, BEFORE, VARIANTS } = require('./variants')

const ROUNDS = 3
const SECONDS = 5
const QUICK = { rounds: 1, seconds: 3 }

const flags = readFlags(
  {
    services: [String],
    variants: [String],
    src: String,
    rounds: ROUNDS,
    seconds: SECONDS,
    'warm-up': 3,
    'gc-threads': false,
    quick: false,
    save: String,
  },
  { services: Object.keys(SERVICES), variants: VARIANTS.slice(1) }
)
const { rounds, seconds } = flags.quick ? QUICK : flags
const isPart = flags.variants !== undefined || flags.src !== undefined || flags['gc-threads'] || flags.quick
const fileName = flags.save ?? (isPart ? 'services-part' : 'services')

/** @returns {{ name: string, src?: string }[]} what is compared, the base first */
function variantsOf() {
  const chosen = VARIANTS.filter((name) => name === BASE || (flags.variants?.includes(name) ?? true))
  const other = flags.src === undefined ? [] : chosen.filter((name) => name in BEFORE)
  return [
    ...chosen.map((name) => ({ name })),
    ...other.map((name) => ({ name, src: path.resolve(flags.src) })),
  ]
}

const labelOf = ({ name, src }) => (src === undefined ? name : BEFORE[name])

/** Each round begins with another variant, so that none always follows the same. */
const rotated = (list, by) => [...list.slice(by % list.length), ...list.slice(0, by % list.length)]

async function measureService(service, given) {
  const variants = variantsOf()
  const runs = new Map(variants.map((variant) => [labelOf(variant), []]))
  for (let round = 0; round < rounds; round++) {
    for (const variant of rotated(variants, round)) {
      progress(`${service.name}: round ${round + 1} of ${rounds}, ${labelOf(variant)}`)
      const run = await measureQuietly(service, {
        variant,
        given,
        warmUpSeconds: flags['warm-up'],
        seconds,
        hasGcThreads: flags['gc-threads'],
      })
      runs.get(labelOf(variant)).push(run)
    }
  }
  progress('')
  const base = runs.get(BASE)
  return [...runs].map(([variant, measured]) => rowOf(variant, measured, base))
}

function rowOf(variant, runs, base) {
  const ratios = runs.map(({ unitMicroseconds }, i) => unitMicroseconds / base[i].unitMicroseconds)
  const of = (key) => runs.map((run) => run[key])
  return {
    variant,
    unitMicroseconds: median(of('unitMicroseconds')),
    busy: median(of('busy')),
    ratio: median(ratios),
    // Half of the rounds were within this of the median.
    plusMinus: scatter(ratios),
    p99Ms: median(of('p99Ms')),
    rejected: of('rejected').reduce((sum, each) => sum + each, 0),
    failed: of('failed').reduce((sum, each) => sum + each, 0),
    isDisturbed: Math.max(...of('foreign'), ...base.map((run) => run.foreign)) > MAX_FOREIGN,
  }
}

const print = (text) => process.stdout.write(`${text}\n`)

function printRow(service, { variant, unitMicroseconds, busy, ratio, plusMinus, p99Ms, ...row }) {
  print(
    `${service.name.padEnd(14)}${variant.padEnd(24)}${ratio.toFixed(3)} ±${plusMinus.toFixed(3)}  ` +
      `busy ${busy.toFixed(2)}  ${unitMicroseconds.toFixed(0).padStart(8)} µs a ${service.unit}  p99 ${p99Ms.toFixed(1)} ms  ` +
      `rejected ${row.rejected}  failed ${row.failed}${row.isDisturbed ? '  ?' : ''}`
  )
}

/** @returns {any[]} the services of the file that is replaced */
function savedBefore() {
  try {
    return load(fileName).services
  } catch {
    return []
  }
}

/** The other services stay in the file as they were saved before. */
function saveService(measured) {
  const all = new Map([...savedBefore(), measured].map((service) => [service.name, service]))
  const services = Object.keys(SERVICES).flatMap((name) => all.get(name) ?? [])
  return save(fileName, { services })
}

async function run(service) {
  const beside = await service.prepare?.()
  if (service.prepare !== undefined && beside === undefined) {
    return print(`${service.name.padEnd(14)}skipped: ${service.needs}`)
  }
  try {
    const rows = await measureService(service, beside?.given)
    for (const row of rows) printRow(service, row)
    print(`saved ${saveService({ name: service.name, rounds, seconds, rows })}`)
  } finally {
    await beside?.stop()
  }
}

async function main() {
  pinLoad()
  print(machineLine())
  for (const name of flags.services ?? Object.keys(SERVICES)) {
    try {
      await run(SERVICES[name])
    } catch (error) {
      // The other services count without it.
      print(`${name.padEnd(14)}failed: ${error.message}`)
      process.exitCode = 1
    }
  }
}

main()
