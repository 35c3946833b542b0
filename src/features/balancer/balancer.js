'use strict'
// Tells load balancers how full this process is: an agent for HAProxy, a header of ORCA, and a `/readyz` that
// says 503 for a while. Each is off until its option is set, or `agent()` is called.

const cluster = /** @type {Cluster} */ (/** @type {unknown} */ (require('node:cluster')))
const { Readiness } = require('./readiness')
const { Weight } = require('./weight')

/**
 * @import { Cluster } from 'node:cluster'
 * @import { AgentAddress } from '../../../index.js'
 * @import { RequestRecord } from '../../core/request/request-record'
 * @import { Instance } from '../../instance'
 * @import { Agent } from './agent'
 */

/**
 * @typedef {Pick<Instance, 'admission' | 'clock' | 'features' | 'info' | 'internalErrors' | 'lifecycle' |
 *   'options' | 'startedFeatures'>} Deps
 */

class Balancer {
  /** Set if requests may ask for the load. @type {((request: RequestRecord) => void) | undefined} */
  onRequest
  /** @type {((request: RequestRecord) => void) | undefined} */
  onEnd
  #deps
  #pressure
  /** @type {Agent | undefined} */
  #agent
  /** @type {Readiness | undefined} */
  #readiness
  #isClosed = false

  /** @param {Deps} deps */
  constructor(deps) {
    const { clock, features, options } = deps
    this.#deps = deps
    this.#pressure = features.use('pressure')
    const { orca } = options.balancer
    if (orca !== undefined) this.#answerLoad(orca)
    const { maxPressure } = options.health
    if (maxPressure > 0 && cluster.isWorker)
      deps.info(
        { event: 'maxPressureIgnored' },
        'spillway: `health.maxPressure` is ignored in a worker of a cluster, because all workers share its port'
      )
    else if (maxPressure > 0)
      this.#readiness = new Readiness({
        clock,
        maxPressure,
        pressure: this.#pressure,
        health: deps.lifecycle.health,
        info: deps.info,
        token: {
          take: async () => (await deps.startedFeatures.fleet?.takeToken()) ?? true,
          giveBack: () => deps.startedFeatures.fleet?.giveBackToken(),
        },
      })
  }

  /** @param {NonNullable<Instance['options']['balancer']['orca']>} orca */
  #answerLoad(orca) {
    const { LoadHeaders } = require('./load-headers')
    const { admission, clock, internalErrors } = this.#deps
    const headers = new LoadHeaders({
      trusted: orca,
      clock,
      internalErrors,
      pressure: this.#pressure,
      shortages: admission.shortages,
    })
    this.#pressure.onSample((ratio) => headers.onSample(ratio))
    this.onRequest = (request) => headers.onRequest(request)
    this.onEnd = (request) => headers.onEnd(request)
  }

  /** @param {AgentAddress} options the port may be 0 @returns {Promise<AgentAddress>} */
  listen(options) {
    const { clock, lifecycle } = this.#deps
    if (this.#agent === undefined) {
      const { Agent } = require('./agent')
      const weight = new Weight({ clock, pressure: this.#pressure })
      this.#agent = new Agent({
        clock,
        weight,
        isReady: async () => (await lifecycle.health.ready()).status === 200,
      })
      if (this.#isClosed) this.#agent.close()
    }
    return this.#agent.listen(options)
  }

  close() {
    this.#isClosed = true
    this.#agent?.close()
    this.#readiness?.close()
  }
}

/** @param {Deps} deps */
const balancerOf = (deps) => new Balancer(deps)

exports.Balancer = Balancer
exports.balancerOf = balancerOf
