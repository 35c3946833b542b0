'use strict'
// The one instance of a process that runs with spillway/register. The instance is made for the first server
// that listens, so a tool without a server loads nothing. It measures every server, and starts the admin
// server once a server listens. If Spillway fails, it logs one warning, and the application runs without it.

const cluster = /** @type {typeof import('node:cluster').default} */ (
  /** @type {unknown} */ (require('node:cluster'))
)
const { isMainThread } = require('node:worker_threads')
const { CallPlace } = require('../../core/call-place')
const { systemClock } = require('../../core/clock')
const { isTested } = require('../../core/environment/deployment')
const { writeForbidden } = require('../../core/environment/permissions')
const { Instance } = require('../../instance')
const { loggerFrom } = require('../../core/log/logger')
const { use } = require('../../core/process-use')
const { Frameworks } = require('./frameworks')
const { Settings } = require('./settings')

/**
 * @import { Server } from 'node:net'
 * @import { AdminAddress } from '../../../index.js'
 * @import { Place } from '../../core/process-use'
 */

class Registration {
  /**
   * Whether nothing is measured: under a test runner, with an instance of the application, or after a
   * failure.
   */
  isOff = isTested()
  #clock = systemClock
  /** @type {Instance | undefined} */
  #instance
  /** @type {Frameworks | undefined} */
  #frameworks
  /** The Settings, from `add` on. @type {any} */
  #settings
  /** The logger, from `add` on. @type {any} */
  #logger
  #hasStarted = false

  /** @param {Server} server that is about to listen, or that has got a request */
  add(server) {
    this.#guard(() => {
      if (use.first !== undefined) this.#leaveAlone(use.first)
      if (this.isOff) return
      const instance = (this.#instance ??= this.#makeInstance())
      const { features, lifecycle, entrance, setUp } = instance
      features.onMount()
      const { behindProxy, signals } = this.#settings.attach
      if (behindProxy) instance.keepConnections(server)
      entrance.attach(server)
      setUp.listen()
      if (signals) lifecycle.listenForSignals(server)
      this.instrument()
    })
  }

  /**
   * Called when a server listens and again at the first request, because the application may load a framework
   * after listen().
   */
  instrument() {
    this.#guard(() => this.#frameworks?.instrument())
  }

  /**
   * Called for a server that has a request but does not listen: another process or server hands connections
   * over to it.
   *
   * @param {Server} server
   */
  serve(server) {
    this.#guard(() => {
      if (!this.isOff) this.#start(server)
    })
  }

  #makeInstance() {
    this.#settings = new Settings(process.env)
    const { options } = this.#settings
    const logger = this.#openLogger(options.logger)
    // Threads of one process are workers of one fleet, also where the main thread has no server.
    const fleet = isMainThread ? options.fleet : (options.fleet ?? true)
    const instance = new Instance({ ...options, fleet, logger }, this.#clock, new CallPlace(Registration), {
      onListen: (server) => this.#guard(() => this.#start(server)),
      isInListen: true,
    })
    this.#frameworks = new Frameworks(instance)
    use.onUse = (place) => this.#guard(() => this.#leaveAlone(place))
    return instance
  }

  /** @param {Settings['options']['logger']} option */
  #openLogger(option) {
    /** @param {Error} error */
    const onError = (error) => this.#instance?.internalErrors.report('logger', error)
    // Standard output is the application's own.
    const own = { clock: this.#clock, onError, output: /** @type {const} */ ('stderr') }
    try {
      this.#logger = loggerFrom(option, own)
    } catch (error) {
      // pino checks its options when it is made.
      this.#settings.problems.push(`${/** @type {Error} */ (error).message} The default is in force.`)
      this.#logger = loggerFrom(undefined, own)
    }
    return this.#logger
  }

  /** @param {Server} server */
  #start(server) {
    if (this.#hasStarted) return
    this.#hasStarted = true
    if (isFirstWorker()) for (const problem of this.#settings.problems) this.#warn('option', problem)
    writeForbidden(
      (fields, message) => this.#logger.info(fields, message),
      /** @type {Instance} */ (this.#instance)
    )
    const measured = describe(server, /** @type {Instance} */ (this.#instance).options)
    const { hasAdmin, isAdminRefused } = this.#settings
    if (!hasAdmin) {
      const why = isAdminRefused ? 'see the warning' : 'SPILLWAY_ADMIN_PORT'
      return this.#info({}, `${measured}. The admin server is off: ${why}`)
    }
    this.#openAdmin(this.#settings.admin).then(
      ({ url }) => this.#guard(() => this.#info({ url }, `admin server at ${url}. ${measured}`)),
      (error) => this.#guard(() => this.#reportAdmin(error, measured))
    )
  }

  /** @param {Settings['admin']} options @returns {Promise<AdminAddress>} */
  async #openAdmin(options) {
    try {
      return await /** @type {Instance} */ (this.#instance).openAdmin(options)
    } catch (error) {
      // Two applications on one machine: the second takes a free port if none was given.
      if (!isPortInUse(error) || this.#settings.hasPort || cluster.isWorker || !isMainThread) throw error
      return /** @type {Instance} */ (this.#instance).openAdmin({ ...options, port: 0 })
    }
  }

  /** @param {Error} error @param {string} measured */
  #reportAdmin(error, measured) {
    // In a cluster, the worker that has the port logs it. If another process has the port, only the first
    // worker warns.
    const isOfSibling = isPortInUse(error) && !(isMainThread && isFirstWorker())
    if (isOfSibling || this.isOff) return
    this.#warn(
      'admin',
      `${error.message} ${measured}. The variables are SPILLWAY_ADMIN_PORT, _HOST and _TOKEN.`
    )
  }

  /** @param {Place} place of the application's own call */
  #leaveAlone(place) {
    if (this.isOff) return
    this.#close()
    if (!isFirstWorker()) return
    this.#settings ??= new Settings(process.env)
    this.#openLogger(this.#settings.options.logger)
    const at = place.at()
    const where = at === undefined ? '' : ` (${at})`
    this.#info(
      {},
      `the application calls createSpillway() itself${where}, so spillway/register does nothing. Remove either this call or the --import of spillway/register`
    )
  }

  #close() {
    this.isOff = true
    use.onUse = undefined
    this.#instance?.close()
    this.#instance = undefined
  }

  /** @param {object} fields @param {string} sentence */
  #info(fields, sentence) {
    this.#logger.info({ event: 'registered', ...fields }, `spillway: ${sentence}.`)
  }

  /** @param {string} subject @param {string} sentence */
  #warn(subject, sentence) {
    this.#logger.warn({ event: 'registered', subject }, `spillway: ${sentence}`)
  }

  /** @param {() => void} work */
  #guard(work) {
    try {
      work()
    } catch (error) {
      if (!this.isOff)
        process.emitWarning(
          `spillway/register measures nothing: ${/** @type {Error} */ (error)?.message ?? error}`
        )
      this.isOff = true
      this.#closeSilently()
    }
  }

  #closeSilently() {
    try {
      this.#close()
    } catch {
      // The failure has been reported.
    }
  }
}

/** The first worker logs what is true for all workers of a cluster. */
const isFirstWorker = () => !cluster.isWorker || cluster.worker?.id === 1

/** @param {unknown} error */
const isPortInUse = (error) =>
  /** @type {{ cause?: { code?: unknown } }} */ (error)?.cause?.code === 'EADDRINUSE'

/** @param {Server} server @param {Settings['options']} options */
function describe(server, { shed }) {
  const address = server.address?.()
  const place = typeof address === 'string' ? address : `port ${address?.port ?? '(handed over)'}`
  return `${place[0].toUpperCase()}${place.slice(1)} is measured, shedding is in mode ${shed.mode}`
}

exports.Registration = Registration
