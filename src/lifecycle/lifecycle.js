'use strict'
// The life of one instance: ready, draining, gone. Put together from its health, its servers, its drain, and how the
// process leaves.

const { rounded } = require('../durations')
const { describeError } = require('../redaction/error-description')
const { REPLACED } = require('../cluster/messages')
const { departureOfProcess } = require('./process-exit')
const { Drain } = require('./drain')
const { drainOrder } = require('./drain-mode')
const { Health } = require('./health')
const { PASSED } = require('./health-check')
const { KnownServers } = require('./known-servers')
const { PrimaryLink } = require('../cluster/primary-link')
const { PublicPaths } = require('./public-paths')
const { Recycle } = require('./recycle')
const { Supervisor } = require('../environment/supervisor')

/** A primary that replaces one worker at a time may take this long; then the worker goes without a replacement. */
const PATIENCE_MS = 120_000

class Lifecycle {
  health
  servers = new KnownServers()
  recycle
  #departure = departureOfProcess()
  #supervisor
  #primary
  #clock
  #tell
  #drain
  #options
  #isClosed = false
  // Where another has taken its place there is no balancer that would have to notice.
  #leaving = (reason, cause) =>
    this.drain(reason === REPLACED ? { ...this.#options, delay: 0 } : this.#options, reason, cause)

  /**
   * @param {{ clock: any, recorder: any, options: import('../../index.js').ResolvedOptions, close: () => void,
   *   sampleMemory: () => any, tell: (event: string, details: object) => void,
   *   onListen: (server: any) => void, info: (fields: object, message: string) => void, warn: (fields: object, message: string) => void }} parts
   */
  constructor({ clock, recorder, options, close, sampleMemory, tell, onListen, info, warn }) {
    this.#clock = clock
    this.#tell = tell
    this.#options = options.drain
    const report = (check, verdict, error) => {
      const fields = { check, verdict, ...(error !== undefined && { err: describeError(error) }) }
      const log = verdict === PASSED ? info : warn
      log(fields, `spillway: check ${check}: ${verdict}`)
    }
    this.health = new Health({ isManual: options.health.manual, clock, report })
    this.#drain = new Drain({
      clock,
      recorder,
      servers: this.servers,
      onBegin: (order) => {
        this.health.drain()
        tell('draining', order)
      },
      onWait: (inFlight) =>
        warn(
          { inFlight },
          'spillway: waiting for requests in flight; the same signal again ends the process'
        ),
      onEnd: (drained) => {
        const { cut, durationMs } = drained
        const log = cut === 0 ? info : warn
        log({ event: 'drained', cut, durationMs: rounded(durationMs) }, 'spillway: drained')
        close()
      },
    })
    const isProduction = process.env.NODE_ENV === 'production'
    const publicPaths = new PublicPaths({ endpoints: options.endpoints, isProduction, info })
    this.servers.onListen = (server) => {
      onListen(server)
      publicPaths.tell(server)
    }
    this.#departure.join(this.#leaving)
    this.#supervisor = new Supervisor({
      onShutdown: (reason) => this.#departure.told(reason),
      started: this.health.started,
    })
    this.#primary = new PrimaryLink({
      started: this.health.started,
      onGo: (reason, cause) => this.#departure.asked(reason, cause),
    })
    this.recycle = new Recycle({
      nowMs: clock.now(),
      options: options.memory,
      sample: sampleMemory,
      onDue: (details) => this.#degrade(details),
      onRaised: (details) =>
        warn(
          details,
          'spillway: memory.recycleAt is less than this process needs from its start, and was raised'
        ),
    })
  }

  get isDraining() {
    return this.#drain.isUnderWay
  }

  /** SIGTERM, SIGINT and the message 'shutdown' end the process, in order, from now on. */
  hearSignals(server) {
    this.#departure.hearSignals(this.#leaving)
    this.#supervisor.watch(server)
  }

  /** @param {string} [cause] the signal, where the reason is another */
  drain(options, reason, cause = reason) {
    return this.#drain.start({ reason, ...drainOrder(options, cause) })
  }

  /** Under a primary of ours it serves until another has taken its place; else it has to be taken for gone. */
  #degrade(details) {
    if (!this.#primary.isThere) this.health.degrade()
    this.#tell('degraded', details)
    if (!this.#primary.isThere) return void this.leave(0, details.reason)
    this.#primary.askForReplacement(details.reason)
    this.#clock.after(PATIENCE_MS, () => this.#isClosed || this.leave(0, details.reason))
  }

  /** Of its own accord: every instance drains, and the process exits. */
  leave(exitCode, reason) {
    return this.#departure.leave(exitCode, reason)
  }

  close() {
    this.#isClosed = true
    this.health.close()
    this.servers.close()
    this.#supervisor.close()
    this.#primary.close()
    this.#departure.part(this.#leaving)
  }
}

module.exports = { Lifecycle }
