'use strict'
// Whether an instance belongs to a fleet. The rest of this folder is loaded when the fleet gets another
// member, or when the figures of all members are first requested.

const { Lazy } = require('../../core/lazy')
const { hasOtherMembers, identityOf, takeNumber } = require('./members/member-identity')
const { watchForMembers } = require('./fleet-watch')

/**
 * @import { Instance } from '../../instance'
 * @import { Deps, Fleet } from './fleet'
 * @import { FleetOption } from './members/member-identity'
 */

class Membership {
  #fleet
  /**
   * Taken when the instance is made, not when it joins. Instances of different processes with the same number
   * form a fleet.
   */
  #number = takeNumber()
  #stopWatching = () => {}

  /**
   * @param {FleetOption} options
   * @param {(number: number) => Fleet} makeFleet
   */
  constructor(options, makeFleet) {
    this.#fleet = new Lazy(() => makeFleet(this.#number.number))
    if (identityOf(options) === undefined) return
    const join = () => this.#fleet.value.join()
    if (hasOtherMembers(options)) join()
    else this.#stopWatching = watchForMembers(join)
  }

  /** Whether the instance answers for a fleet, and not for its own thread alone. */
  get isMember() {
    return this.#fleet.made?.isMember ?? false
  }

  /** @param {number} nowMs */
  onInterval(nowMs) {
    this.#fleet.made?.checkMembership(nowMs)
  }

  /**
   * @returns {Promise<boolean>} whether this member may now answer 503 at `/readyz`; a process without a
   *   fleet always may
   */
  async takeToken() {
    return this.isMember ? this.#fleet.value.takeToken() : true
  }

  giveBackToken() {
    this.#fleet.made?.giveBackToken()
  }

  gather() {
    return this.#fleet.value.gather()
  }

  snapshot() {
    return this.#fleet.value.snapshot()
  }

  /** @param {string} name @returns {Promise<import('../../core/features').FoundWorker>} */
  find(name) {
    return this.#fleet.value.find(name)
  }

  close() {
    this.#stopWatching()
    this.#fleet.made?.close()
    this.#number.giveBack()
  }
}

/** @param {Deps & Pick<Instance, 'capture' | 'exporter' | 'features' | 'options'>} deps */
function membershipOf(deps) {
  const { capture, exporter, features, options } = deps
  return new Membership(options.fleet, (number) => {
    const { Fleet } = require('./fleet')
    const pagesNow = () => features.use('admin').memberPages
    return new Fleet(deps, options.fleet, capture, exporter.value, { number, pagesNow })
  })
}

exports.Membership = Membership
exports.membershipOf = membershipOf
