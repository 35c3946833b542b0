'use strict'
// A real admission under a load in simulated time, which notes of each request what was decided, how often it
// ran, was rejected and released, and how long it was queued. What the load is, is a world's description
// (test/simulation/world.js).

const { RUN } = require('../../src/core/gate/decision')
const { stack } = require('../simulation/stack')
const { PARSE_MS, REFUSE_MS, World } = require('../simulation/world')

/** What a handler does, and what that costs the loop. */
const WORKS = {
  cpu: { costMs: 2, steps: [{ burn: 2 }] },
  /** As Restify, whose handlers run in ticks of their own. */
  ticks: { costMs: 2, steps: [{ ticks: true }, { burn: 2 }] },
  await: { costMs: 2, steps: [{ wait: 20 }, { burn: 2 }] },
  /** One in a hundred blocks the loop for 100 ms. */
  bimodal: { costMs: 1.99, steps: [{ burn: { share: 0.01, rare: 100, usual: 1 } }] },
  mixed: { costMs: 1.5, steps: [{ wait: 2 }, { burn: 0.5 }, { wait: 5, pool: 'pool' }, { burn: 1 }] },
}

const capacityOf = (work) => 1000 / (PARSE_MS + WORKS[work].costMs)

/** The most that can be served a second when `offered` a second come: rejecting the others takes time too. */
function boundOf(work, offered) {
  const rejected = PARSE_MS + REFUSE_MS
  return Math.min(offered, (1000 - offered * rejected) / (PARSE_MS + WORKS[work].costMs - rejected))
}

const counting = {
  ...stack,

  admission(clock, shed, connections) {
    const admission = stack.admission(clock, shed, connections)
    const decide = admission.decide.bind(admission)
    admission.decide = (request, nowMs) => {
      request.decision = decide(request, nowMs)
      if (request.decision === RUN) request.runs++
      return request.decision
    }
    return admission
  },

  request({ onRejected, runQueued, ...given }) {
    const request = stack.request({
      ...given,
      onRejected(seconds) {
        request.rejections++
        onRejected(seconds)
      },
      runQueued() {
        request.runs++
        runQueued()
      },
    })
    return Object.assign(request, {
      runs: 0,
      rejections: 0,
      releases: 0,
      priority: given.priority ?? 'normal',
    })
  },

  release(admission, request) {
    request.releases++
    stack.release(admission, request)
  },
}

/** @returns {{ admission: any, loop: any, requests: any[] }} once it has run */
function load(spec, shed, before = (_world) => {}) {
  const world = new World({ seed: 7, ...spec }, { stack: counting, shed })
  before(world)
  return world.run()
}

const wasRejected = ({ request }) => request.ticket.isRejected
const waitedMs = ({ request }) => request.ticket.waitedMs
const shedShare = (requests) => requests.filter(wasRejected).length / requests.length

/** Of how long the answers took. */
function p99(requests) {
  const tookMs = requests
    .filter(({ servedMs }) => servedMs !== undefined)
    .map(({ atMs, servedMs }) => servedMs - atMs)
    .sort((a, b) => a - b)
  return tookMs[Math.floor(tookMs.length * 0.99)]
}

/** So many at once, at that time. */
const burst = (atMs, count, given = {}) => ({
  route: 0,
  perSecond: count,
  batch: count,
  arrivals: 'constant',
  fromMs: atMs - 1000,
  toMs: atMs + 1,
  ...given,
})

module.exports = { WORKS, boundOf, burst, capacityOf, load, p99, shedShare, waitedMs, wasRejected }
