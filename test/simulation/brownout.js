'use strict'
// Cheaper answers in simulated time, with the real gate: a page of 2 ms of CPU, of which 1.5 can be left out.

const { Degrading } = require('../../src/features/pressure/degrading')
const { Pressure } = require('../../src/features/pressure/pressure')
const { capacityOf } = require('./overload')
const { randomFrom } = require('./random')
const { stack } = require('./stack')
const { World } = require('./world')

const DEADLINE_MS = 250
const FULL_MS = 2
const DEGRADED_MS = 0.5
const STEP_MS = 2000
/** A pressure follows within a second, and the share of degraded answers with it. */
const SETTLED_MS = 5000
const END_MS = 15_000

/** At half the capacity of full answers, and from `STEP_MS` on at so many times it. */
function brownout(times, isDegrading = true, shed = undefined) {
  let pressure
  let clock
  const ran = []
  const degrading = new Degrading({
    degradeAt: undefined,
    find: (res) => res,
    onMistake: (error) => {
      throw error
    },
    random: randomFrom(7),
  })
  const step = {
    get burn() {
      const isDegraded =
        isDegrading &&
        degrading.shouldDegrade(
          { writeHead() {}, req: {}, ticket: { priority: stack.NORMAL } },
          pressure.ratio
        )
      ran.push({ atMs: clock.now(), isDegraded })
      return isDegraded ? DEGRADED_MS : FULL_MS
    },
  }
  const given = {
    ...stack,
    admission(ofLoop, ...rest) {
      const admission = stack.admission(ofLoop, ...rest)
      clock = ofLoop
      pressure = new Pressure({
        clock,
        shortages: admission.shortages,
        poolShortage: () => 0,
        degrading,
      })
      return admission
    },
    onTurn: (nowMs) => pressure.onInterval(nowMs, clock.idleMs()),
  }
  const perSecond = capacityOf('cpu')
  const open = [
    { route: 0, perSecond: perSecond / 2, toMs: STEP_MS },
    { route: 0, perSecond: perSecond * times, fromMs: STEP_MS, toMs: END_MS },
  ]
  const spec = { seed: 3, seconds: END_MS / 1000 + 1, routes: [{ steps: [step] }], open }
  const { requests } = new World(spec, { stack: given, shed, keepsRequests: false }).run()
  const counted = requests.filter(({ atMs }) => atMs >= SETTLED_MS)
  const tookMs = counted
    .filter(({ servedMs }) => servedMs !== undefined)
    .map(({ servedMs, atMs }) => servedMs - atMs)
    .sort((a, b) => a - b)
  const settled = ran.filter(({ atMs }) => atMs >= SETTLED_MS)
  return {
    inTime: tookMs.filter((ms) => ms <= DEADLINE_MS).length / counted.length,
    shedShare: counted.filter(({ shedMs }) => shedMs !== undefined).length / counted.length,
    degradedShare: settled.filter(({ isDegraded }) => isDegraded).length / settled.length,
    p99Ms: tookMs[Math.floor(tookMs.length * 0.99)],
    mostMs: tookMs.at(-1),
  }
}

module.exports = { brownout }
