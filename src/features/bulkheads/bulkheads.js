'use strict'
// The bulkheads of one instance, by name, and the slots that its requests have in them. A request may have
// slots in several bulkheads.

const { SpillwayError } = require('../../core/errors/errors')
const { MAX_LIMITS } = require('../../core/gate/decision')
const { ADVISED_BOUNDS, Buckets } = require('../../core/histogram/buckets')
const { Bulkhead } = require('./bulkhead')
const { middlewareOf } = require('./middleware')
const { GateShare } = require('./shadow-bulkhead')

/**
 * @import { LimitSnapshot } from '../../../index.js'
 * @import { MemberOptions } from '../../core/options/options'
 * @import { RequestRecord } from '../../core/request/request-record'
 * @import { Instance } from '../../instance'
 * @import { Slot } from './slot'
 */

/** @typedef {Pick<Instance, 'admission' | 'clock' | 'entrance' | 'recorder' | 'timeouts'>} Deps */

class Bulkheads {
  #deps
  /** @type {Map<string, Bulkhead>} */
  #bulkheads = new Map()
  /** The first slot of each request that has a slot. @type {Map<RequestRecord, Slot>} */
  #slots = new Map()
  /** How long admitted requests were queued, with a row for each bulkhead in order. */
  #waits = new Buckets(ADVISED_BOUNDS)
  /** The share of requests that the gate would reject. It is used in mode `observe`. */
  #gateShare

  /** @param {Deps} deps */
  constructor(deps) {
    this.#deps = deps
    this.#gateShare = new GateShare(deps.admission.stats)
  }

  /** @param {MemberOptions['limit']} options */
  add(options) {
    requireOptions(options, this.#bulkheads)
    const { admission, clock, entrance, recorder, timeouts } = this.#deps
    const row = this.#waits.add()
    const bulkhead = new Bulkhead(options, {
      admission,
      clock,
      slotOf: (request, of) => this.#slotOf(request, of),
      keep: (slot) => this.#keep(slot),
      onWait: (waitMs) => this.#waits.record(row, waitMs / 1000),
      gateShare: this.#gateShare,
      timeouts,
    })
    this.#bulkheads.set(options.name, bulkhead)
    return middlewareOf(bulkhead, { entrance, recorder })
  }

  /** @param {RequestRecord} request @param {Bulkhead} bulkhead */
  #slotOf(request, bulkhead) {
    let slot = this.#slots.get(request)
    while (slot !== undefined && slot.bulkhead !== bulkhead) slot = slot.next
    return slot
  }

  /** @param {Slot} slot */
  #keep(slot) {
    slot.next = this.#slots.get(slot.request)
    this.#slots.set(slot.request, slot)
  }

  // Hot path: once a request, while there is a limit.
  /** @param {RequestRecord} request */
  onEnd(request) {
    let slot = this.#slots.get(request)
    if (slot === undefined) return
    this.#slots.delete(request)
    const { endedMs } = this.#deps.recorder
    for (; slot !== undefined; slot = slot.next) slot.bulkhead.onEnd(slot, endedMs)
  }

  /** Called once a turn, at most every 10 ms. */
  onInterval() {
    if (this.#deps.admission.mode !== 'observe') return
    let ofLimits = 0
    for (const { wouldReject } of this.#bulkheads.values()) ofLimits += wouldReject
    this.#gateShare.sample(ofLimits)
  }

  sample() {
    const waits = this.#waits.copy()
    return [...this.#bulkheads.values()].map(({ name, maxConcurrent, running, queued }, row) => ({
      name,
      maxConcurrent,
      running,
      queued,
      waits,
      row,
    }))
  }

  /** @returns {LimitSnapshot[]} */
  section() {
    return [...this.#bulkheads.values()].map((each) => ({
      name: each.name,
      maxConcurrent: each.maxConcurrent,
      maxQueue: Number.isFinite(each.maxQueue) ? each.maxQueue : null,
      maxWaitMs: each.maxWaitMs,
      running: each.running,
      queued: each.queued,
      admitted: each.admitted,
      rejected: each.rejected,
      wouldReject: each.wouldReject,
      abandoned: each.abandoned,
      heldMs: each.slotHeldMs,
    }))
  }

  onUpdate() {
    for (const bulkhead of this.#bulkheads.values()) bulkhead.onUpdate()
  }

  close() {
    for (const bulkhead of this.#bulkheads.values()) bulkhead.close()
  }
}

/** @param {MemberOptions['limit']} options @param {Map<string, unknown>} bulkheads */
function requireOptions({ name, maxConcurrent }, bulkheads) {
  if (name === undefined)
    throw refusal(
      "`limit.name` is missing: write limit({ name: 'report', maxConcurrent: 5 }), with the name that metrics and logs show."
    )
  if (maxConcurrent === undefined)
    throw refusal(
      '`limit.maxConcurrent` is missing: ' +
        "write limit({ name: 'report', maxConcurrent: 5 }), with how many requests may run at a time."
    )
  if (bulkheads.has(name))
    throw refusal(
      `There is a limit '${name}' already. For one limit on several routes, call limit() once and give its result to each. ` +
        'To give this route a separate limit, choose another name.'
    )
  if (bulkheads.size >= MAX_LIMITS)
    throw refusal(
      `There are already ${MAX_LIMITS} limits, the maximum. Share one limit among routes that use the same resource.`
    )
}

/** @param {string} message */
const refusal = (message) => new SpillwayError('ERR_SPILLWAY_OPTION_VALUE', message)

/** @param {Deps} deps */
const bulkheadsOf = (deps) => new Bulkheads(deps)

exports.Bulkheads = Bulkheads
exports.bulkheadsOf = bulkheadsOf
