'use strict'
// Open-loop overloads in simulated time: the works of `npm run bench -- overload`, whose best possible
// goodput is known exactly.

const { stack } = require('./stack')
const { PARSE_MS, REFUSE_MS, World } = require('./world')

const DEADLINE_MS = 250

const WORKS = {
  cpu: { costMs: 2, steps: [{ burn: 2 }] },
  await: { costMs: 2, steps: [{ wait: 20 }, { burn: 2 }] },
  'await-100': { costMs: 2, waitMs: 100, steps: [{ wait: 100 }, { burn: 2 }] },
  bimodal: { costMs: 1.99, steps: [{ burn: { share: 0.01, rare: 100, usual: 1 } }] },
  mixed: {
    costMs: 1.5,
    steps: [{ wait: 2 }, { burn: 0.5 }, { wait: 5, pool: 'pool' }, { burn: 1 }],
  },
}

const capacityOf = (work) => 1000 / (PARSE_MS + WORKS[work].costMs)

/** The most that can be served a second when `offered` a second come: rejecting the others takes time too. */
function boundOf(work, offered) {
  const rejected = PARSE_MS + REFUSE_MS
  return Math.min(offered, (1000 - offered * rejected) / (PARSE_MS + WORKS[work].costMs - rejected))
}

/** Half the capacity for two seconds, then so many times it for six, of which the last five count. */
function overload(work, times, shed, given = stack) {
  const { steps, waitMs = 0 } = WORKS[work]
  const perSecond = capacityOf(work)
  const open = [
    { route: 0, perSecond: perSecond / 2, toMs: 2000 },
    { route: 0, perSecond: perSecond * times, fromMs: 2000, toMs: 8000 },
  ]
  const spec = { seed: 3, seconds: 9.5, pools: { pool: 10 }, routes: [{ steps }], open }
  const world = new World(spec, { stack: given, shed }).run()
  const counted = world.requests.filter(({ atMs }) => atMs >= 3000)
  const served = counted.filter(({ servedMs }) => servedMs !== undefined)
  const inTime = served.filter(({ servedMs, atMs }) => servedMs - atMs <= DEADLINE_MS + waitMs)
  const tookMs = served.map(({ servedMs, atMs }) => servedMs - atMs).sort((a, b) => a - b)
  return {
    world,
    counted,
    shedShare: counted.filter(({ shedMs }) => shedMs !== undefined).length / counted.length,
    ofBound: inTime.length / 5 / boundOf(work, counted.length / 5),
    p50Ms: tookMs[Math.floor(tookMs.length / 2)],
    p99Ms: tookMs[Math.floor(tookMs.length * 0.99)],
  }
}

module.exports = { WORKS, capacityOf, overload }
