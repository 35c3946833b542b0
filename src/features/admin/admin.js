'use strict'
// The admin server of an instance with its pages, their history and their profiles. It is loaded with the first `listen()`, or when another
// member of the fleet asks for a page of this one.

const { History } = require('./history')
const { Profiles } = require('../profiles/profiles')
const { takeTotals } = require('../../core/snapshot/totals')
const { streamHandler } = require('../../core/http/endpoints')
const { ACCESS, adminPages } = require('./pages')
const { AdminServer } = require('./server')

/**
 * @import { Handler } from '../../../index.js'
 * @import { Instance } from '../../instance'
 * @import { ResolvedListenOptions } from './server'
 */

/** Without the feature. */
const ALONE = {
  isMember: false,
  find: async (/** @type {string} */ name) => ({ isOwn: name === 'main', names: ['main'] }),
  /** @returns {Promise<never>} */
  snapshot: () => Promise.reject(new Error("the feature 'fleet' is not there")),
}

class Admin {
  /** What other members of the fleet may ask for, by path. @type {Map<string, Handler>} */
  memberPages
  #history
  #liveStream
  #profiles
  #server

  /** @param {Instance} instance */
  constructor(instance) {
    const { admission, clock, exporter, features, handlers, internalErrors, started } = instance
    this.#history = new History(instance)
    this.#profiles = new Profiles({
      clock,
      isOverloaded: () => admission.episode.isOn,
      onPause: (ms) => started.stalls?.excuse(ms),
    })
    const { pages, memberPages, liveStream } = adminPages({
      // The guard has authorized this request, so that it need not queue behind unauthorized scrapes.
      handlers: { ...handlers, metrics: streamHandler(exporter, internalErrors, { isFirst: true }) },
      clock,
      takeSnapshot: () => instance.snapshot(),
      takeTotals: (id) => takeTotals(instance, instance.snapshot(), id),
      diagnose: () => features.use('doctor').diagnose(),
      fleet: started.fleet ?? ALONE,
      optionsNow: () => instance.options,
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
    return listening
  }

  /** @param {number} nowMs @param {number} idleMs */
  onTurn(nowMs, idleMs) {
    this.#history.onTurn(nowMs, idleMs)
  }

  close() {
    this.#liveStream.close()
    this.#history.close()
    this.#server.close()
    this.#profiles.close()
  }
}

/** @param {Instance} instance */
const adminOf = (instance) => new Admin(instance)

exports.Admin = Admin
exports.adminOf = adminOf
