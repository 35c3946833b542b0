'use strict'
// The main part of bench/overload: the works in turn, each in rounds, with every policy at every load within
// each round. It prints a line for each load of a round. It saves after each round, because a round takes
// minutes, and a run that is stopped keeps the rounds before.

const { save } = require('../support/results')
const { median } = require('../support/statistics')
const { lineOf, measurementOf, rowOf } = require('./rows')
const { DEADLINE_MS, REFUSING } = require('./run')

const CRITICAL_SHARE = 0.1
/** Half the capacity before the load. */
const CALM_SECONDS = 1
/** A rejection costs the same in every round, apart from the machine's speed. */
const MAX_COST_ROUNDS = 3
const CONNECTIONS = 'kept'
/**
 * A rejection costs more at the load than in a closed loop: beside work, its code and data have left the
 * caches. Where memory is short too, the bound takes the cost at the load. For the other works, the lower cost
 * in a closed loop makes the bound higher, and the bound at the load is shown beside it.
 */
const MEMORY_WORKS = ['gc', 'upload']
/** Its loop is not what is short. */
const UNBOUNDED_WORKS = ['pool']
const BARE = 'bare'

const mediansOf = (all) =>
  Object.fromEntries(Object.entries(all).map(([name, values]) => [name, median(values)]))

class Grid {
  work
  proof
  #runs
  #settings
  #cells
  #rounds = 0
  #measured = new Map()
  #capacities = []
  #costs
  /** The costs at the load, by multiple of the capacity and policy. */
  #costsAtLoad = {}

  /** @param {{ work: string, cells: { multiple: number, policies: string[] }[] }} part */
  constructor(runs, { work, cells }, settings) {
    this.#runs = runs
    this.work = work
    this.#cells = cells
    this.#settings = settings
    const policies = cells.flatMap((cell) => cell.policies)
    const bounded = Object.keys(REFUSING).filter((policy) => policy === BARE || policies.includes(policy))
    this.#costs = Object.fromEntries(bounded.map((policy) => [policy, []]))
  }

  async measureRound() {
    const { rounds, settle } = this.#settings
    if (this.#rounds < MAX_COST_ROUNDS) await this.#measureRejections()
    for (const { multiple, policies } of this.#cells) {
      const capacity = await this.#runs.capacity(this.work, CONNECTIONS, settle)
      this.#capacities.push(capacity.rate)
      const told = []
      for (const policy of policies) {
        const measured = await this.#measure({ policy, multiple }, capacity)
        told.push(`${policy} ${measured.ratio.toFixed(2)}`)
      }
      process.stdout.write(
        `${this.work}, round ${this.#rounds + 1} of ${rounds}, ${multiple}x of ${Math.round(capacity.rate)}/s: ${told.join(', ')}\n`
      )
    }
    this.#rounds++
  }

  async #measure({ policy, multiple }, capacity) {
    const { seconds, settle, arrivals } = this.#settings
    const result = await this.#runs.run({
      policy,
      work: this.work,
      connections: CONNECTIONS,
      arrivals,
      criticalShare: policy === 'attach-classes' ? CRITICAL_SHARE : 0,
      warmUpSeconds: CALM_SECONDS + settle,
      phases: [
        { rate: capacity.rate * 0.5, seconds: CALM_SECONDS },
        { rate: capacity.rate * multiple, seconds: settle + seconds },
      ],
    })
    const measured = measurementOf(result, capacity, this.work)
    const key = `${multiple} ${policy}`
    this.#measured.set(key, [...(this.#measured.get(key) ?? []), measured])
    return measured
  }

  /** Measures rejections in the same rounds as what they bound. */
  async #measureRejections() {
    const { work } = this
    for (const [policy, costs] of Object.entries(this.#costs)) {
      costs.push(await this.#runs.rejectionMs(policy, CONNECTIONS, { work }))
    }
    if (!UNBOUNDED_WORKS.includes(work)) await this.#measureRejectionsAtLoad()
  }

  async #measureRejectionsAtLoad() {
    const { work } = this
    const { rate: capacity } = await this.#runs.capacity(work, CONNECTIONS)
    for (const { multiple } of this.#cells.filter((cell) => cell.multiple > 1)) {
      const rate = capacity * multiple
      for (const policy of Object.keys(this.#costs)) {
        const ms =
          work === 'upload'
            ? await this.#runs.rejectionMs(policy, CONNECTIONS, { work, rate })
            : await this.#runs.rejectionBesideWorkMs(policy, work, rate)
        const key = `${multiple} ${policy}`
        this.#costsAtLoad[key] = [...(this.#costsAtLoad[key] ?? []), ms]
      }
    }
  }

  get #mostMultiple() {
    return Math.max(...this.#cells.map(({ multiple }) => multiple))
  }

  get #rejections() {
    return mediansOf(this.#costs)
  }

  /**
   * A load that is late measures itself. It must keep its schedule against a server that has nothing to do.
   */
  async prove() {
    const proof = await this.#runs.proof(median(this.#capacities) * this.#mostMultiple, CONNECTIONS)
    process.stdout.write(
      `the load against an empty server, ${Math.round(proof.rate)}/s: ${Math.round(proof.goodput)}/s answered in time, ` +
        `sent ${proof.sendLagP99Ms} ms late (p99)${proof.isProven ? '' : '  VOID'}\n`
    )
    this.proof = proof
  }

  get rows() {
    const rejections = this.#rejections
    const costsAtLoad = mediansOf(this.#costsAtLoad)
    return this.#cells.flatMap(({ multiple, policies }) =>
      policies.map((policy) => {
        const atLoadMs = costsAtLoad[`${multiple} ${policy}`]
        const closedMs = rejections[policy.replace('attach-classes', 'attach')]
        const rejectionMs = MEMORY_WORKS.includes(this.work) ? (atLoadMs ?? closedMs) : closedMs
        return rowOf(
          { work: this.work, connections: CONNECTIONS, multiple, policy },
          this.#measured.get(`${multiple} ${policy}`),
          rejectionMs === undefined ? undefined : { rejectionMs, atLoadMs }
        )
      })
    )
  }

  save() {
    const { framework, arrivals, settle, seconds, name } = this.#settings
    const settings = { work: this.work, framework, connections: CONNECTIONS, arrivals, settle, seconds }
    const counts = { rounds: this.#rounds, deadlineMs: DEADLINE_MS }
    const found = { rejections: this.#rejections, proof: this.proof, rows: this.rows }
    return save(`${name}-${this.work}`, { ...settings, ...counts, ...found })
  }

  print() {
    process.stdout.write(`\n${this.work}: ${Math.round(median(this.#capacities))}/s without a policy\n`)
    const rejections = this.#rejections
    for (const [policy, ms] of Object.entries(rejections)) {
      const times = (ms / rejections.bare).toFixed(2)
      process.stdout.write(
        `a rejection, ${policy}: ${(ms * 1000).toFixed(1)} µs of CPU, ${times} times a bare http server's with the same bytes\n`
      )
    }
    for (const [key, ms] of Object.entries(mediansOf(this.#costsAtLoad))) {
      const [multiple, policy] = key.split(' ')
      process.stdout.write(
        `a rejection, ${policy}, at ${multiple}x the capacity: ${(ms * 1000).toFixed(1)} µs\n`
      )
    }
    for (const row of this.rows) process.stdout.write(`${lineOf(row)}\n`)
  }
}

/** @param {{ work: string, cells: { multiple: number, policies: string[] }[] }[]} parts */
async function measureGrid(runs, parts, settings) {
  for (const part of parts) {
    const grid = new Grid(runs, part, settings)
    for (let round = 0; round < settings.rounds; round++) {
      await grid.measureRound()
      if (round === 0) await grid.prove()
      grid.save()
    }
    grid.print()
    process.stdout.write(`saved ${grid.save()}\n\n`)
  }
}

module.exports = { measureGrid }
