'use strict'
// npm run bench:overload: what share of its capacity a server still serves in time when offered 0.5 to 10 times of it.
// An open loop (bench/support/open-loop.js) on one core, the server on the other, a fresh server for every run, policies
// interleaved within each round, figures as medians of rounds. The capacity is measured without a policy before each
// comparison, and corrected by how long the run's own burns took: the machine's speed changes twofold by the second.
// Beside each figure stands the bound: what a server could serve whose rejections cost what the policy's do.

const { parseArgs } = require('node:util')
const { calibrate } = require('../support/burn')
const { CASES, measureConnections } = require('./connections')
const { measureGrid } = require('./grid')
const { OverloadRuns } = require('./run')
const { measureStep } = require('./step')
const { pinLoad } = require('../support/pinned')
const { machineLine } = require('../support/results')

const HELP = `npm run bench:overload -- [options]

  --quick               a minute or two: two works, two loads, one round
  --step                half the capacity, ten times it and back, instead of the grid
  --work cpu,await      only these kinds of work (await, bimodal, cpu, gc, mixed, pool, upload)
  --policies none,...   only these policies
  --multiples 2,10      only these multiples of the capacity
  --rounds, --seconds   how many, and how long each (5, 2)
  --settle              how many seconds of the load go by before (1; with 5 its code is compiled)
  --attempts            how often a disturbed run is repeated (3)
  --connections         a new connection for every request, of each kind of server, instead of the grid
  --kind https,silent   only these kinds (${Object.keys(CASES).join(', ')})
  --poisson             random arrivals
  --koa                 Koa instead of Express
  --save <name>         bench/results/<name>-<work>.json (overload; overload-koa, -part and so on
                        where it is not what the README shows)`

// Everything on the work that shows most; elsewhere the ends of the scale and the strongest peers.
const MAIN = [
  'none',
  'attach',
  'middleware',
  'behind',
  'overload-protection',
  'overload-protection-100',
  'toobusy-js',
  'toobusy-js-20',
  'under-pressure',
  'heavy',
]
const OTHER = ['none', 'attach', 'middleware', 'overload-protection']
const QUICK = { cpu: { multiples: [2, 10], policies: OTHER }, await: { multiples: [2, 10], policies: OTHER } }
const WORKS = {
  cpu: { multiples: [0.5, 0.8, 1.2, 2, 5, 10], policies: MAIN, classesAt: 5 },
  bimodal: { multiples: [0.5, 0.8, 10], policies: OTHER },
  await: { multiples: [0.8, 2, 10], policies: OTHER },
  pool: { multiples: [0.8, 2, 10], policies: OTHER },
  mixed: { multiples: [0.8, 2, 10], policies: OTHER },
  gc: { multiples: [0.8, 2, 10], policies: OTHER },
  upload: { multiples: [0.8, 2, 10], policies: OTHER },
}

const { values: flags } = parseArgs({
  options: {
    ...Object.fromEntries(
      ['help', 'quick', 'poisson', 'step', 'connections', 'koa'].map((name) => [
        name,
        { type: 'boolean', default: false },
      ])
    ),
    ...Object.fromEntries(
      ['work', 'kind', 'policies', 'multiples', 'seconds', 'settle', 'rounds', 'attempts', 'save'].map(
        (name) => [name, { type: 'string' }]
      )
    ),
  },
})
const framework = flags.koa ? 'koa' : 'express'
const seconds = Number(flags.seconds ?? 2)
const settle = Number(flags.settle ?? 1)
const rounds = Number(flags.rounds ?? (flags.quick ? 1 : 5))
const arrivals = flags.poisson ? 'poisson' : 'constant'
const policies = flags.policies?.split(',')
const multiples = flags.multiples?.split(',').map(Number)
const attempts = Number(flags.attempts ?? 3)
const connections = 'kept'
/** What is not all that the README shows does not take its place. */
const variant = [
  ...['quick', 'koa', 'poisson'].filter((name) => flags[name]),
  ...(settle === 1 ? [] : ['settled']),
  ...(policies === undefined && multiples === undefined ? [] : ['part']),
]
const nameOf = (what) => flags.save ?? [what, ...variant].join('-')

/** What is measured of each work: at which loads, under which policies. */
function partsOf(works) {
  const chosen = flags.work?.split(',') ?? Object.keys(works)
  return chosen.map((work) => {
    const part = works[work] ?? WORKS[work]
    if (part === undefined)
      throw new Error(`there is no work '${work}', but ${Object.keys(WORKS).join(', ')}`)
    const cells = (multiples ?? part.multiples).map((multiple) => ({
      multiple,
      policies:
        policies ?? (multiple === part.classesAt ? [...part.policies, 'attach-classes'] : part.policies),
    }))
    return { work, cells }
  })
}

async function main() {
  if (flags.help) return void process.stdout.write(`${HELP}\n`)
  process.stdout.write(`${machineLine()}\n`)
  // The server's core may be slower or faster; what matters is that all servers burn the same.
  process.env.BURN_PER_MS = String(Math.round(calibrate()))
  pinLoad()
  if (flags.connections) {
    const settings = { framework, arrivals, attempts, rounds, seconds, settle, policies, multiples }
    return measureConnections(flags.kind?.split(',') ?? Object.keys(CASES), settings)
  }
  const runs = new OverloadRuns({ framework, attempts })
  if (!flags.step) {
    const settings = { framework, arrivals, settle, seconds, rounds, name: nameOf('overload') }
    return measureGrid(runs, partsOf(flags.quick ? QUICK : WORKS), settings)
  }
  return measureStep(runs, {
    work: flags.work ?? 'cpu',
    policies: policies ?? ['none', 'attach', 'overload-protection'],
    rounds,
    connections,
    arrivals,
    name: nameOf('overload-step'),
  })
}

main()
