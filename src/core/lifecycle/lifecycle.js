'use strict'
// Owns the life of one instance (ready, draining, closed): connects its health, its servers, its drain and
// the exit of the process. Counts the instances that are open.

const { rounded } = require('../readable')
const { describeError } = require('../redaction/error-description')
const { processExit } = require('./process-exit')
const { Drain } = require('./drain')
const { drainOrder } = require('./drain-mode')
const { CHECK_OK, Health } = require('./health')
const { KnownServers } = require('../servers/known-servers')
const { PrimaryLink, REPLACED } = require('../cluster/primary-link')
const { Recycle } = require('./recycle')
const environment = require('../environment/deployment')
const { Supervisor } = require('../environment/supervisor')
const { PublicPaths } = require('../log/start-line')

/**
 * @import { Server } from 'node:net'
 * @import { ResolvedOptions, SpillwayEvents } from '../../../index.js'
 * @import { Clock } from '../clock'
 * @import { InternalErrors } from '../errors/internal-errors'
 * @import { Recorder } from '../request/recorder'
 * @import { MemorySample } from './recycle'
 */

/**
 * @typedef {{ clock: Clock, internalErrors: InternalErrors, recorder: Recorder, options: ResolvedOptions,
 *   close: () => void, sampleMemory: () => MemorySample, emit: (event: 'degraded' | 'draining',
 *   details: object) => void, onListen: (server: Server) => void, isInListen?: boolean | undefined,
 *   onDrain: () => void, onStopAccepting: () => void, info: (fields: object, message: string) => void,
 *   warn: (fields: object, message: string) => void }} Deps
 */

/**
 * A primary replaces one worker at a time, so a replacement may take long. After this time the worker exits
 * without one.
 */
const REPLACEMENT_TIMEOUT_MS = 120_000
/**
 * No application makes this many instances on purpose. A call in a request handler makes this many within
 * seconds.
 */
const TOO_MANY = 100

class Lifecycle {
  health
  servers
  recycle
  #processExit = processExit()
  #supervisor
  #primaryLink
  #clock
  #emit
  #drain
  #options
  #isClosed = false
  // A replaced worker needs no delay: its replacement listens on the same port, so no load balancer has to
  // notice.
  #drainForExit = (/** @type {string} */ reason, /** @type {string} */ signal) =>
    this.drain(reason === REPLACED ? { ...this.#options, delay: 0 } : this.#options, reason, signal)

  /** @param {Deps} deps */
  constructor(deps) {
    const { clock, options, sampleMemory, emit, onListen, isInListen, info, warn } = deps
    this.#clock = clock
    this.#emit = emit
    this.#options = options.drain
    /** @param {string} check @param {string} verdict @param {unknown} error */
    const onCheckChange = (check, verdict, error) => {
      const fields = { check, verdict, ...(error !== undefined && { err: describeError(error) }) }
      const log = verdict === CHECK_OK ? info : warn
      log(fields, `spillway: check ${check}: ${verdict}`)
    }
    this.health = new Health({ isManual: options.health.manual, clock, onCheckChange })
    const isProduction = process.env.NODE_ENV === 'production'
    const publicPaths = new PublicPaths({ endpoints: options.endpoints, isProduction, info })
    this.servers = new KnownServers({
      isInListen,
      onClose: () => this.#drain.onServerClose(),
      onListen: (server) => {
        onListen(server)
        publicPaths.logFor(server)
      },
    })
    this.#drain = this.#makeDrain(deps)
    this.#processExit.addDrain(this.#drainForExit)
    this.#supervisor = new Supervisor({
      onShutdown: (reason) => this.#processExit.onSignal(reason),
      started: this.health.started,
    })
    this.#primaryLink = new PrimaryLink({
      started: this.health.started,
      onExit: (reason, signal) => this.#processExit.onPrimaryOrder(reason, signal),
    })
    this.recycle = new Recycle({
      nowMs: clock.now(),
      options: options.memory,
      sample: sampleMemory,
      onDue: (details) => this.#degrade(details),
      onRaised: (details) =>
        warn(
          details,
          'spillway: this process needs more than memory.recycleAt from its start, so the level was raised'
        ),
    })
  }

  /** @param {Deps} deps */
  #makeDrain({ clock, internalErrors, recorder, close, emit, onDrain, onStopAccepting, info, warn }) {
    return new Drain({
      clock,
      recorder,
      servers: this.servers,
      guard: (work) => internalErrors.guard('drain', work),
      onBegin: (order) => {
        this.health.markDraining()
        onDrain()
        emit('draining', order)
      },
      onWait: (inFlight) =>
        warn(
          { inFlight },
          'spillway: waiting for requests in flight; a second signal ends the process at once'
        ),
      onStopAccepting,
      onEnd: (drained) => {
        const { cut, durationMs } = drained
        const log = cut === 0 ? info : warn
        log({ event: 'drained', cut, durationMs: rounded(durationMs) }, 'spillway: drained')
        close()
      },
    })
  }

  get isDraining() {
    return this.#drain.isUnderWay
  }

  /**
   * From now on SIGTERM, SIGINT and the message 'shutdown' drain every instance and end the process.
   *
   * @param {Server} server
   */
  listenForSignals(server) {
    this.#processExit.listenForSignals(this.#drainForExit)
    this.#supervisor.watch(server)
  }

  /**
   * @param {ResolvedOptions['drain']} options
   * @param {string} reason
   * @param {string} [signal] the one that began the drain, which decides its mode. It differs from
   *   `reason` if `reason` is a word such as 'replaced'
   */
  drain(options, reason, signal = reason) {
    return this.#drain.start({ reason, ...drainOrder(options, signal) })
  }

  /**
   * Called when memory is above its level. A worker of `clusterPrimary()` serves until its replacement is
   * ready. Any other process fails `/readyz`, drains and exits.
   *
   * @param {SpillwayEvents['degraded']} details
   */
  #degrade(details) {
    if (!this.#primaryLink.hasPrimary) this.health.degrade()
    this.#emit('degraded', details)
    if (!this.#primaryLink.hasPrimary) return void this.exit(0, details.reason)
    this.#primaryLink.requestReplacement(details.reason)
    this.#clock.after(REPLACEMENT_TIMEOUT_MS, () => this.#isClosed || this.exit(0, details.reason))
  }

  /**
   * Drains every instance and exits the process, without a signal.
   *
   * @param {number} exitCode
   * @param {string} reason
   */
  exit(exitCode, reason) {
    return this.#processExit.exit(exitCode, reason)
  }

  close() {
    this.#isClosed = true
    this.health.close()
    this.servers.close()
    this.#supervisor.close()
    this.#primaryLink.close()
    this.#processExit.removeDrain(this.#drainForExit)
  }
}

/**
 * Counts the open instances of this process. A call of createSpillway() in a request handler makes an
 * instance per request. Each instance keeps timers and figures until close(), so the process slows down and
 * grows.
 */
class OpenInstances {
  #count = 0
  #isTested

  /**
   * @param {() => boolean} [isTested] whether a test runner has started this process: few tests close the
   *   instances that they make
   */
  constructor(isTested = environment.isTested) {
    this.#isTested = isTested
  }

  /** @returns {string | undefined} a warning, for the hundredth open instance only */
  add() {
    if (++this.#count !== TOO_MANY || this.#isTested()) return undefined
    return (
      `${TOO_MANY} instances are open in this process. If createSpillway() is called for each request, move the call to the start of the process. ` +
      'Write spillway.close() for each instance that is no longer used.'
    )
  }

  remove() {
    this.#count--
  }
}

/** One per process, like the module. */
const openInstances = new OpenInstances()

exports.Lifecycle = Lifecycle
exports.OpenInstances = OpenInstances
exports.openInstances = openInstances
