'use strict'
// The admin server of an instance, with its pages, history and profiles. The file is loaded with the first
// `listen()`, or when another member of the fleet asks for a page of this member.

const { PassThrough } = require('node:stream')
const { text: textIn } = require('node:stream/consumers')
const { SpillwayError } = require('../../core/errors/errors')
const { ownFile } = require('../../core/own-files')
const { History } = require('./history')
const { Profiles } = require('../profiles/profiles')
const { takeTotals } = require('./totals')
const { streamHandler } = require('../../core/http/endpoints')
const { ACCESS, adminPages } = require('./pages')
const { AdminServer } = require('./server')

/**
 * @import { ServerResponse } from 'node:http'
 * @import { AdminAddress, Handler } from '../../../index.js'
 * @import { Instance } from '../../instance'
 * @import { ResolvedListenOptions } from './server'
 */

/** Stands in for the feature `fleet` if that is left out. */
const ALONE = {
  isMember: false,
  find: async (/** @type {string} */ name) => ({ isOwn: name === 'main', names: ['main'] }),
  /** @returns {Promise<never>} */
  snapshot: () => Promise.reject(new Error("the feature 'fleet' is not in src/feature-list.js")),
}

/**
 * @typedef {Pick<Instance, 'admission' | 'clock' | 'exporter' | 'features' | 'handlers' | 'internalErrors' |
 *   'options' | 'recorder' | 'runtime' | 'snapshot' | 'startedFeatures'>} Deps
 */

class Admin {
  /** Pages for other members of the fleet, by path. @type {Map<string, Handler>} */
  memberPages
  #deps
  #history
  #liveStream
  #profiles
  #server

  /** @param {Deps} deps */
  constructor(deps) {
    const { admission, clock, exporter, features, handlers, internalErrors, startedFeatures } = deps
    this.#deps = deps
    this.#history = new History(deps)
    this.#profiles = new Profiles({
      clock,
      mayBeFull: () => admission.rejectionPeriod.mayBeFull,
      onPause: (ms) => startedFeatures.stalls?.excuse(ms),
      onPauseBegin: () => startedFeatures.stalls?.excuse(undefined),
    })
    const { pages, memberPages, liveStream } = adminPages({
      // The guard has authorized each request that comes here. So a scrape need not queue behind unauthorized
      // ones.
      handlers: { ...handlers, metrics: streamHandler(exporter, internalErrors, { isFirst: true }) },
      clock,
      takeSnapshot: () => deps.snapshot(),
      takeTotals: (id) => takeTotals(deps, deps.snapshot(), id),
      diagnose: () => features.use('doctor').diagnose(),
      fleet: startedFeatures.fleet ?? ALONE,
      optionsNow: () => deps.options,
      history: this.#history,
      profiles: this.#profiles,
      internalErrors,
    })
    this.memberPages = memberPages
    this.#liveStream = liveStream
    this.#server = new AdminServer({ pages, access: ACCESS, clock, internalErrors })
  }

  /** @param {ResolvedListenOptions} options */
  listen(options) {
    const listening = this.#server.listen(options)
    // A process without an admin server needs no history: nobody could see it.
    this.#history.start()
    this.#liveStream.limitTo(options.maxConnections)
    return options.blockedPort === undefined ? listening : this.#withBlockedPort(listening, options)
  }

  /** @param {Promise<AdminAddress>} listening @param {ResolvedListenOptions} options */
  async #withBlockedPort(listening, { blockedPort, ...options }) {
    const port = /** @type {number} */ (blockedPort)
    const [address, served] = await Promise.all([
      listening,
      this.#serveBlocked({ ...options, blockedPort, port }),
    ])
    return { ...address, blockedPort: served.port }
  }

  /** Starts the server that answers while the loop is blocked. @param {ResolvedListenOptions} options */
  async #serveBlocked(options) {
    const { clock, exporter, features, options: all } = this.#deps
    if (all.insight.stalls === false)
      throw new SpillwayError('ERR_SPILLWAY_LISTEN', 'listen() with a `blockedPort` needs `insight.stalls`.')
    const tell = async () => {
      const format = exporter.value.formatFor(undefined)
      return {
        atMs: clock.wallMs(),
        diagnosis: features.use('doctor').diagnose(),
        snapshot: this.#deps.snapshot(),
        metrics: {
          contentType: format.contentType,
          text: await textOf((sink) => exporter.value.write(sink, format)),
        },
      }
    }
    const given = { options: { ...options, blockedPort: undefined }, hangAfterMs: all.insight.hangAfter }
    return features.use('stalls').serve({ file: ownFile('blocked-thread.js'), given }, tell)
  }

  /** @param {number} nowMs @param {number} idleMs */
  onInterval(nowMs, idleMs) {
    this.#history.onInterval(nowMs, idleMs)
  }

  close() {
    this.#liveStream.close()
    this.#history.close()
    this.#server.close()
    this.#profiles.close()
  }
}

/**
 * Returns the text that `write` writes into a response.
 *
 * @param {(sink: ServerResponse) => Promise<void>} write
 */
async function textOf(write) {
  const sink = new PassThrough()
  const written = write(/** @type {ServerResponse} */ (/** @type {unknown} */ (sink)))
  const text = await textIn(sink)
  await written
  return text
}

/** @param {Deps} deps */
const adminOf = (deps) => new Admin(deps)

exports.Admin = Admin
exports.adminOf = adminOf
