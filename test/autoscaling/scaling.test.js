'use strict'
// The manifests of examples/service/kubernetes/ in simulated time, by the arithmetic of Kubernetes: enough pods,
// no flapping. The same loads with CPU show what the metric is for.

const assert = require('node:assert/strict')
const { describe, test } = require('node:test')
const { readManifests } = require('../examples/service-folder')
const { Autoscaler, desiredByPods, desiredByTotal } = require('../simulation/autoscaler')
const { LOADS, SERVICES, scaledService } = require('../simulation/scaled-service')

const HOUR = 3600

/** What the manifest says, as the simulation takes it. */
function ofKeda() {
  const [{ spec }] = readManifests('kubernetes/autoscaler.yml')
  const [{ metadata }] = spec.triggers
  return {
    by: 'total',
    target: Number(metadata.threshold),
    min: spec.minReplicaCount,
    max: spec.maxReplicaCount,
    behavior: spec.advanced.horizontalPodAutoscalerConfig.behavior,
  }
}

function ofPods() {
  const [{ spec }] = readManifests('kubernetes/horizontal-pod-autoscaler.yml')
  const [{ pods }] = spec.metrics
  return {
    by: 'pods',
    target: Number.parseInt(pods.target.averageValue, 10) / 1000,
    min: spec.minReplicas,
    max: spec.maxReplicas,
    behavior: spec.behavior,
  }
}

const CPU = { by: 'cpu', target: 0.6 }
const run = (name, load, scaler, rest = {}) =>
  scaledService({
    service: SERVICES[name],
    perSecond: LOADS[load](SERVICES[name]),
    seconds: HOUR,
    ...scaler,
    ...rest,
  })

for (const [kind, scaler] of Object.entries({ ScaledObject: ofKeda(), HorizontalPodAutoscaler: ofPods() })) {
  describe(`the ${kind}`, () => {
    for (const name of Object.keys(SERVICES)) {
      test(`keeps its pods under a steady load, whatever it is: a service that ${name}`, () => {
        const service = SERVICES[name]
        for (let podsFull = 1.3; podsFull < 6; podsFull += 0.37) {
          const perSecond = () => podsFull * service.perSecond
          const steady = { service, perSecond, seconds: HOUR / 2, settleSeconds: HOUR / 4, ...scaler }
          const { changes, pods, rejected } = scaledService({ ...steady, seed: Math.round(podsFull * 100) })
          assert.ok(changes <= 1, `${podsFull}: ${changes} changes`)
          assert.equal(rejected, 0)
          const needed = podsFull / scaler.target
          assert.ok(pods >= needed / 1.15 && pods <= needed * 1.1 + 1, `${podsFull}: ${pods} pods`)
        }
      })

      test(`follows an hour that goes from one pod's load to six, and rejects nothing: ${name}`, () => {
        const { rejected, turns, mostPods } = run(name, 'day', scaler)
        assert.ok(rejected < 0.0001, `rejected ${rejected}`)
        assert.ok(turns <= 1, `${turns} turns`)
        assert.ok(mostPods <= 12, `${mostPods} pods`)
      })

      test(`is back in two minutes after five times the load, and adds no more than it keeps: ${name}`, () => {
        const { mostPods, turns } = run(name, 'step', scaler)
        assert.equal(turns, 0)
        assert.ok(mostPods <= 10, `${mostPods} pods`)
        assert.equal(run(name, 'step', scaler, { settleSeconds: 600 + 120 }).rejected, 0)
      })

      test(`does not follow spikes of half a minute up and down: ${name}`, () => {
        const { rejected, turns } = run(name, 'spikes', scaler, { settleSeconds: 600 })
        assert.equal(turns, 0)
        assert.ok(rejected < 0.001, `rejected ${rejected}`)
      })
    }
  })
}

describe('CPU, beside it', () => {
  test('never adds a pod to a service that waits: half of its requests are rejected', () => {
    const { mostPods, rejected } = run('awaits', 'step', CPU)
    assert.equal(mostPods, 2)
    assert.ok(rejected > 0.5, `rejected ${rejected}`)
  })

  test('serves one that computes, if the pod requests exactly one core', () => {
    assert.ok(run('burns', 'day', CPU).rejected < 0.0001)
  })

  test('never adds a pod if it requests two cores, and adds all of them if it requests a quarter', () => {
    assert.equal(run('burns', 'step', CPU, { requested: 2 }).mostPods, 2)
    assert.equal(run('burns', 'steady', CPU, { requested: 0.25 }).mostPods, 20)
  })
})

// Examples of the documentation of Kubernetes, and of its source.
describe('the arithmetic', () => {
  test('twice the target doubles the pods, half of it halves them, and a tenth beside it changes nothing', () => {
    assert.equal(desiredByPods([0.2, 0.2], 0.1), 4)
    assert.equal(desiredByPods([0.05, 0.05, 0.05, 0.05], 0.1), 2)
    assert.equal(desiredByPods([0.109, 0.109, 0.109], 0.1), 3)
    assert.equal(desiredByPods([0.111, 0.111, 0.111], 0.1), 4)
    assert.equal(desiredByTotal(3, 3, 0.6), 5)
    assert.equal(desiredByTotal(1.9, 3, 0.6), 3)
  })

  test('a pod without a value is idle when the others say up, and at the target when they say down', () => {
    assert.equal(desiredByPods([0.95, 0.95, undefined], 0.6), 3, '1.9 / 3 / 0.6 is within a tenth')
    assert.equal(desiredByPods([1, 1, 1, undefined], 0.6), 5)
    assert.equal(desiredByPods([0.1, 0.1, undefined], 0.6), 2)
    assert.equal(desiredByPods([undefined, undefined], 0.6), 2)
  })

  test('up at once, by at most four pods or as many again; down to the most of the last five minutes', () => {
    const scaler = new Autoscaler({ min: 2, max: 50 })
    assert.equal(scaler.decide(0, 2, 40), 6)
    assert.equal(scaler.decide(15, 6, 40), 12)
    assert.equal(scaler.decide(30, 12, 10), 12)
    assert.equal(scaler.decide(314, 12, 3), 12)
    assert.equal(scaler.decide(316, 12, 3), 10)
    assert.equal(scaler.decide(345, 10, 3), 3)
    assert.equal(scaler.decide(644, 3, 1), 3, 'until the last 3 is five minutes old')
    assert.equal(scaler.decide(646, 3, 1), 2, 'never below the least')
  })
})
