'use strict'
// A slot in one bulkhead, from the time that a request asks for it until the request ends. Only `bulkhead.js`
// changes it.

/**
 * @import { Context } from 'koa'
 * @import { QueueEntry } from '../../core/gate/queue'
 * @import { FrameworkNext, RequestRecord } from '../../core/request/request-record'
 * @import { Bulkhead } from './bulkhead'
 */

class Slot {
  /** Whether the slot counts towards `maxConcurrent`. */
  isHeld = false
  takenMs = 0
  /** Idle time of the loop at `takenMs`, in mode `observe`. */
  takenIdleMs = 0
  /** The request's entry in the queue, if it was queued. @type {QueueEntry | undefined} */
  queueEntry = undefined
  /** Runs the handler, once the request is dequeued. @type {() => unknown} */
  runQueued
  /** Called instead of `runQueued` if the handler will never run. */
  giveUp = () => {}
  /** The slot of the same request in another bulkhead. @type {Slot | undefined} */
  next = undefined

  /**
   * @param {Bulkhead} bulkhead @param {RequestRecord} request @param {() => unknown} runQueued
   * @param {FrameworkNext} frameworkNext takes the error of a rejection, with `shed.errorMode: 'next'`
   * @param {Context} [ctx] of Koa
   */
  constructor(bulkhead, request, runQueued, frameworkNext, ctx) {
    this.bulkhead = bulkhead
    this.request = request
    this.runQueued = runQueued
    this.frameworkNext = frameworkNext
    this.ctx = ctx
  }
}

exports.Slot = Slot
