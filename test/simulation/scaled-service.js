'use strict'
// A service whose pods an autoscaler adds and removes, in simulated time. Each pod measures itself with the code
// of the metric. A scrape comes every 15 s, at a time of its own for each pod, and so does each decision.
// Work is a fluid: so many milliseconds of the loop, and of connections, in each tenth of a second.

const { Autoscaling } = require('../../src/features/autoscaling/autoscaling')
const { FakeClock } = require('../support/fake-clock')
const { Autoscaler, desiredByPods, desiredByTotal } = require('./autoscaler')
const { randomFrom } = require('./random')

const STEP_MS = 100
const PERIOD_MS = 15_000
/** Until a new pod is scheduled, has started and is ready. */
const START_MS = 20_000
/** What would wait for longer is rejected. */
const MAX_WAIT_MS = 200
/** The garbage collector and the kernel use CPU beside the loop. */
const CPU_BESIDE = 0.05

/**
 * `cpuMs`: of the loop for each request. `heldMs`: of one of `connections`. `perSecond`: what one pod serves.
 *
 * @typedef {{ cpuMs: number, heldMs: number, connections: number, perSecond: number }} Service
 * @type {Record<string, Service>}
 */
const SERVICES = {
  /** Ten connections are full at 200 requests a second, and a fifth of the loop. */
  awaits: { cpuMs: 1, heldMs: 50, connections: 10, perSecond: 200 },
  burns: { cpuMs: 4, heldMs: 0, connections: 0, perSecond: 250 },
}

/** In pods that such a load would fill, by seconds. @type {Record<string, (seconds: number) => number>} */
const PODS_FULL = {
  steady: () => 2.75,
  day: (seconds) => 3.5 - 2.5 * Math.cos((2 * Math.PI * seconds) / 3600),
  step: (seconds) => (seconds < 600 ? 1 : 5),
  spikes: (seconds) => (seconds % 180 < 30 ? 4 : 2),
}

const LOADS = Object.fromEntries(
  Object.entries(PODS_FULL).map(([name, podsFull]) => [
    name,
    (/** @type {Service} */ service) => (/** @type {number} */ seconds) =>
      podsFull(seconds) * service.perSecond,
  ])
)

class Pod {
  readyMs
  /** What the last scrape saw. @type {{ pressure: number, cpu: number } | undefined} */
  seen
  #service
  #clock = new FakeClock(0)
  #autoscaling
  #scrapeMs
  #loopMs = 0
  #poolMs = 0
  #poolUse = 0
  #cpuMs = 0
  #scrapedMs

  constructor(service, startMs, random) {
    this.#service = service
    this.readyMs = startMs + START_MS
    this.#scrapedMs = this.readyMs
    this.#scrapeMs = this.readyMs + random() * PERIOD_MS
    this.#autoscaling = new Autoscaling({
      clock: this.#clock,
      admission: {
        limits: { inFlight: 0, maxConcurrent: Number.POSITIVE_INFINITY },
        shortages: { shortage: 0 },
      },
      poolUse: () => this.#poolUse,
    })
  }

  /** @returns {number} how many requests were rejected */
  step(nowMs, requests) {
    const { cpuMs, heldMs, connections } = this.#service
    const room = (most, each) => (each === 0 ? requests : Math.max(0, Math.floor(most / each)))
    const admitted = Math.min(
      requests,
      room(STEP_MS + MAX_WAIT_MS - this.#loopMs, cpuMs),
      room((STEP_MS + MAX_WAIT_MS) * connections - this.#poolMs, heldMs)
    )
    this.#loopMs += admitted * cpuMs
    this.#poolMs += admitted * heldMs
    const busyMs = Math.min(STEP_MS, this.#loopMs)
    const heldNowMs = Math.min(STEP_MS * connections, this.#poolMs)
    this.#loopMs -= busyMs
    this.#poolMs -= heldNowMs
    this.#poolUse = connections === 0 ? 0 : heldNowMs / (STEP_MS * connections)
    this.#cpuMs += busyMs + STEP_MS * CPU_BESIDE
    this.#clock.idle(STEP_MS - busyMs)
    this.#clock.advance(busyMs)
    this.#autoscaling.onInterval(this.#clock.now(), this.#clock.idleMs())
    if (nowMs >= this.#scrapeMs) this.#scrape(nowMs)
    return requests - admitted
  }

  #scrape(nowMs) {
    this.seen = {
      pressure: this.#autoscaling.sample().ratio,
      cpu: this.#cpuMs / (nowMs - this.#scrapedMs),
    }
    this.#cpuMs = 0
    this.#scrapedMs = nowMs
    this.#scrapeMs += PERIOD_MS
  }
}

/** What each kind of autoscaler would have: a target, and the number of pods. */
const BY = {
  /** A HorizontalPodAutoscaler with a metric of pods. */
  pods: (pods, target) =>
    desiredByPods(
      pods.map(({ seen }) => seen?.pressure),
      target
    ),
  /** KEDA with the sum of a query. */
  total: (pods, target) =>
    desiredByTotal(
      pods.reduce((sum, { seen }) => sum + (seen?.pressure ?? 0), 0),
      pods.length,
      target
    ),
  /** A HorizontalPodAutoscaler with CPU, as a share of what the pod requests. */
  cpu: (pods, target, requested) =>
    desiredByPods(
      pods.map(({ seen }) => (seen === undefined ? undefined : seen.cpu / requested)),
      target
    ),
}

/**
 * @param {{ service: Service, perSecond: (seconds: number) => number, seconds: number, by: keyof typeof BY,
 *   target: number, requested?: number, behavior?: object, min?: number, max?: number, settleSeconds?: number,
 *   seed?: number }} spec `settleSeconds`: how long it runs before it counts
 */
function scaledService({
  service,
  perSecond,
  seconds,
  by,
  target,
  requested = 1,
  behavior,
  min = 2,
  max = 20,
  settleSeconds = 0,
  seed = 1,
}) {
  const random = randomFrom(seed)
  const autoscaler = new Autoscaler({ min, max, behavior })
  let pods = Array.from({ length: min }, () => new Pod(service, -START_MS, random))
  const replicas = []
  let [offered, rejected] = [0, 0]
  for (let nowMs = 0; nowMs < seconds * 1000; nowMs += STEP_MS) {
    const counts = nowMs >= settleSeconds * 1000
    const ready = pods.filter(({ readyMs }) => readyMs <= nowMs)
    const mean = (perSecond(nowMs / 1000) * STEP_MS) / 1000 / ready.length
    for (const pod of ready) {
      const requests = poisson(mean, random)
      const turnedAway = pod.step(nowMs, requests)
      if (!counts) continue
      offered += requests
      rejected += turnedAway
    }
    if (nowMs % PERIOD_MS > 0) continue
    const next = autoscaler.decide(nowMs / 1000, pods.length, BY[by](pods, target, requested))
    // The newest leave first.
    pods = pods.slice(0, next)
    while (pods.length < next) pods.push(new Pod(service, nowMs, random))
    if (counts) replicas.push(next)
  }
  const changes = replicas
    .slice(1)
    .map((each, i) => each - replicas[i])
    .filter((change) => change !== 0)
  return {
    rejected: rejected / offered,
    pods: replicas.reduce((sum, each) => sum + each, 0) / replicas.length,
    mostPods: Math.max(...replicas),
    changes: changes.length,
    /** How often it turned from adding to removing, or back. */
    turns: changes.filter((change, i) => i > 0 && change > 0 !== changes[i - 1] > 0).length,
  }
}

/** @param {number} mean @param {() => number} random */
function poisson(mean, random) {
  const end = Math.exp(-mean)
  let count = 0
  for (let product = random(); product > end; product *= random()) count++
  return count
}

module.exports = { LOADS, SERVICES, scaledService }
