'use strict'
// The life of one instance: ready, draining, gone. Put together from its health, its servers, its drain, and how the
// process leaves.

const { departureOfProcess } = require('./departure')
const { Drain } = require('./drain')
const { Health } = require('./health')
const { KnownServers } = require('./known-servers')
const { Supervisor } = require('./supervisor')

/** What Kubernetes needs to take a pod out of its endpoints: it sends SIGTERM at the moment it begins to. */
const KUBERNETES_DELAY_MS = 5000

class Lifecycle {
  health
  servers = new KnownServers()
  #departure = departureOfProcess()
  #supervisor
  #drain
  #options
  #leaving = (reason) => this.drain(this.#options, reason)

  /**
   * @param {{ clock: any, recorder: any, options: import('../../index.js').ResolvedOptions, close: () => void,
   *   tell: (event: string, details: object) => void, warn: (fields: object, message: string) => void }} parts
   */
  constructor({ clock, recorder, options, close, tell, warn }) {
    this.#options = options.drain
    const report = (check, verdict, err) =>
      warn({ check, verdict, err }, `spillway: check ${check}: ${verdict}`)
    this.health = new Health({ isManual: options.health.manual, clock, report })
    this.#drain = new Drain({
      clock,
      recorder,
      servers: this.servers,
      onBegin: (order) => {
        this.health.drain()
        tell('draining', order)
      },
      onEnd: (drained) => {
        warn(drained, 'spillway: drained')
        close()
      },
    })
    this.#departure.join(this.#leaving)
    this.#supervisor = new Supervisor({
      onShutdown: (reason) => this.#departure.told(reason),
      started: this.health.started,
    })
  }

  get isDraining() {
    return this.#drain.isUnderWay
  }

  /** SIGTERM, SIGINT and the message 'shutdown' end the process, in order, from now on. */
  heed(server) {
    this.#departure.hearSignals(this.#leaving)
    this.#supervisor.watch(server)
  }

  drain({ timeout, delay }, reason) {
    const isInKubernetes = process.env.KUBERNETES_SERVICE_HOST !== undefined
    return this.#drain.start({
      reason,
      delayMs: delay ?? (isInKubernetes ? KUBERNETES_DELAY_MS : 0),
      timeoutMs: timeout,
    })
  }

  /** Of its own accord: every instance drains, and the process exits. */
  leave(exitCode, reason) {
    return this.#departure.leave(exitCode, reason)
  }

  close() {
    this.health.close()
    this.servers.close()
    this.#supervisor.close()
    this.#departure.part(this.#leaving)
  }
}

module.exports = { Lifecycle }
