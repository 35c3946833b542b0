'use strict'
// npm run bench -- overload [flags]
//
// Measures the share of its capacity that a server still serves in time when it is offered 0.5 to 10 times
// its capacity. An open loop (bench/support/open-loop.js) runs on one core and the server on the other, with
// a fresh server for every run. Policies alternate within each round, and figures are medians of rounds. The
// capacity is measured without a policy before each comparison. It is corrected by how long the burns of the
// run took, because the machine's speed changes twofold by the second. Beside each figure stands the bound:
// what a server could serve if its rejections cost what the policy's rejections cost.
//
//   --quick               a minute or two: two works, two loads, one round
//   --step                half the capacity, ten times it and back, instead of the grid
//   --connections         a new connection for every request, of each kind of server, instead of the grid
//   --work cpu,await      only these kinds of work
//   --kind https,silent   only these kinds of connections, with --connections
//   --policies none,...   only these policies
//   --multiples 2,10      only these multiples of the capacity
//   --rounds 5            how many rounds
//   --seconds 2           how long each run counts
//   --settle 1            how many seconds of the load pass before a run counts; with 5, the code is compiled
//   --attempts 3          how often a disturbed run is made at most
//   --poisson             random arrivals
//   --koa                 Koa instead of Express
//   --save <name>         saves to bench/results/<name>-<work>-node-<major>.json (overload; overload-part, overload-koa and so
//                         on if not everything is measured that the tables show)

const { calibrate } = require('../support/burn')
const { readFlags } = require('../support/flags')
const { pinLoad } = require('../support/pinned')
const { machineLine } = require('../support/results')
const { CASES, measureConnections } = require('./connections')
const { measureGrid } = require('./grid')
const { OverloadRuns } = require('./run')
const { measureStep } = require('./step')

// All policies on the work that shows most. Elsewhere the ends of the scale and the strongest peers.
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

const flags = readFlags(
  {
    quick: false,
    step: false,
    connections: false,
    work: [String],
    kind: [String],
    policies: [String],
    multiples: [Number],
    rounds: Number,
    seconds: 2,
    settle: 1,
    attempts: 3,
    poisson: false,
    koa: false,
    save: String,
  },
  { work: Object.keys(WORKS), kind: Object.keys(CASES) }
)
const { seconds, settle, attempts, policies, multiples } = flags
const framework = flags.koa ? 'koa' : 'express'
const rounds = flags.rounds ?? (flags.quick ? 1 : 5)
const arrivals = flags.poisson ? 'poisson' : 'constant'
const connections = 'kept'
/** Results of a part do not replace those of all policies and loads, which a table shows. */
const variant = [
  ...['quick', 'koa', 'poisson'].filter((name) => flags[name]),
  ...(settle === 1 ? [] : ['settled']),
  ...(policies === undefined && multiples === undefined ? [] : ['part']),
]
const nameOf = (what) => flags.save ?? [what, ...variant].join('-')

/** The loads of each work, and the policies at each load. */
function partsOf(works) {
  return (flags.work ?? Object.keys(works)).map((work) => {
    const part = works[work] ?? WORKS[work]
    const cells = (multiples ?? part.multiples).map((multiple) => ({
      multiple,
      policies:
        policies ?? (multiple === part.classesAt ? [...part.policies, 'attach-classes'] : part.policies),
    }))
    return { work, cells }
  })
}

async function main() {
  process.stdout.write(`${machineLine()}\n`)
  // All servers of a bench must burn the same amount of work, however fast the server's core is.
  process.env.BURN_PER_MS = String(Math.round(calibrate()))
  pinLoad()
  if (flags.connections) {
    const settings = { framework, arrivals, attempts, rounds, seconds, settle, policies, multiples }
    return measureConnections(flags.kind ?? Object.keys(CASES), settings)
  }
  const runs = new OverloadRuns({ framework, attempts })
  if (!flags.step) {
    const settings = { framework, arrivals, settle, seconds, rounds, name: nameOf('overload') }
    return measureGrid(runs, partsOf(flags.quick ? QUICK : WORKS), settings)
  }
  return measureStep(runs, {
    work: flags.work?.[0] ?? 'cpu',
    policies: policies ?? ['none', 'attach', 'overload-protection'],
    rounds,
    connections,
    arrivals,
    name: nameOf('overload-step'),
  })
}

main()
