'use strict'
// The arithmetic of Kubernetes' HorizontalPodAutoscaler (autoscaling/v2), as in pkg/controller/podautoscaler:
//   desired = ceil(pods x value / target), unless value / target is within 0.1 of 1
// then the stabilization windows, and then how fast replicas may change. KEDA makes such an autoscaler: its
// query is an external metric.

const TOLERANCE = 0.1
/** By default up at once, by at most four pods or all of them again; down to the most of five minutes. */
const BEHAVIOR = {
  scaleUp: {
    stabilizationWindowSeconds: 0,
    policies: [
      { type: 'Percent', value: 100 },
      { type: 'Pods', value: 4 },
    ],
  },
  scaleDown: { stabilizationWindowSeconds: 300, policies: [{ type: 'Percent', value: 100 }] },
}
const PERIOD_SECONDS = 15

class Autoscaler {
  #min
  #max
  #behavior
  /** @type {{ atSeconds: number, replicas: number }[]} */
  #recommended = []
  /** @type {{ atSeconds: number, change: number }[]} */
  #changes = []

  /** @param {{ min: number, max: number, behavior?: { [Direction in keyof typeof BEHAVIOR]?: object } }} spec */
  constructor({ min, max, behavior = {} }) {
    this.#min = min
    this.#max = max
    this.#behavior = {
      scaleUp: { ...BEHAVIOR.scaleUp, ...behavior.scaleUp },
      scaleDown: { ...BEHAVIOR.scaleDown, ...behavior.scaleDown },
    }
  }

  /** @param {number} atSeconds @param {number} replicas @param {number} desired by the metric */
  decide(atSeconds, replicas, desired) {
    const stable = this.#stabilize(atSeconds, replicas, desired)
    const next = Math.min(this.#max, Math.max(this.#min, this.#limitRate(atSeconds, replicas, stable)))
    if (next !== replicas) this.#changes.push({ atSeconds, change: next - replicas })
    return next
  }

  #stabilize(atSeconds, replicas, desired) {
    const { scaleUp, scaleDown } = this.#behavior
    const within = (seconds) =>
      this.#recommended.filter((each) => each.atSeconds > atSeconds - seconds).map((each) => each.replicas)
    const least = Math.min(desired, ...within(scaleUp.stabilizationWindowSeconds))
    const most = Math.max(desired, ...within(scaleDown.stabilizationWindowSeconds))
    this.#recommended.push({ atSeconds, replicas: desired })
    return Math.min(Math.max(replicas, least), most)
  }

  #limitRate(atSeconds, replicas, desired) {
    const lately = this.#changes
      .filter((each) => each.atSeconds > atSeconds - PERIOD_SECONDS)
      .reduce((sum, { change }) => sum + change, 0)
    const before = replicas - lately
    const { scaleUp, scaleDown } = this.#behavior
    const boundsOf = (policies, sign) =>
      policies.map(({ type, value }) =>
        type === 'Pods' ? before + sign * value : before * (1 + (sign * value) / 100)
      )
    if (desired > replicas)
      return Math.min(desired, Math.max(replicas, Math.ceil(Math.max(...boundsOf(scaleUp.policies, 1)))))
    return Math.max(desired, Math.min(replicas, Math.floor(Math.min(...boundsOf(scaleDown.policies, -1)))))
  }
}

const isClose = (ratio) => Math.abs(1 - ratio) <= TOLERANCE

/**
 * A metric of pods, with a target for their mean. A pod without a value counts as one at the target if the
 * others say down, and as an idle one if they say up.
 *
 * @param {(number | undefined)[]} values one a pod
 * @param {number} target
 */
function desiredByPods(values, target) {
  const known = values.filter((value) => value !== undefined)
  const replicas = values.length
  if (known.length === 0) return replicas
  const ratioOf = (all) => all.reduce((sum, value) => sum + value, 0) / all.length / target
  const ratio = ratioOf(known)
  if (known.length === replicas) return isClose(ratio) ? replicas : Math.ceil(ratio * replicas)
  const filled = ratioOf(values.map((value) => value ?? (ratio < 1 ? target : 0)))
  if (isClose(filled) || ratio < 1 !== filled < 1) return replicas
  return Math.ceil(filled * replicas)
}

/** An external metric with a target for each pod, as KEDA's `threshold`. */
function desiredByTotal(total, replicas, target) {
  return isClose(total / (target * replicas)) ? replicas : Math.ceil(total / target)
}

module.exports = { Autoscaler, desiredByPods, desiredByTotal }
