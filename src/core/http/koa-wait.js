'use strict'
// How a middleware of Koa waits for the decision about a queued request, and how it ends if the request never
// runs.

/**
 * @import { Context } from 'koa'
 * @import { Ticket } from '../request/request-record'
 * @import { KoaNext } from './koa'
 */

/**
 * Keeps the error until the decision has returned. The middleware then throws the error.
 *
 * @this {Ticket}
 * @param {unknown} error
 */
function keepError(error) {
  if (this.rejection !== undefined) this.rejection.error = error
}

/**
 * Ends the middleware without the handler: spillway has answered, or the client has disconnected.
 *
 * @param {Context} ctx
 * @param {Ticket} ticket
 */
function endWithout(ctx, { rejection }) {
  if (rejection?.error !== undefined) throw rejection.error
  ctx.respond = false
}

/**
 * Once the request is dequeued, settles with the rest of the chain. If the request never runs, settles
 * without running the rest.
 *
 * @param {Context} ctx
 * @param {KoaNext} next
 * @param {Ticket} ticket
 * @param {{ runQueued?: (() => unknown) | undefined }} queued `runQueued` is called when the request is dequeued
 * @param {{ giveUp?: (() => void) | undefined }} wait `giveUp` is called if the request never runs
 * @returns {Promise<unknown>}
 */
function untilAdmitted(ctx, next, ticket, queued, wait) {
  return new Promise((resolve, reject) => {
    queued.runQueued = () => resolve(next())
    wait.giveUp = () => {
      try {
        resolve(endWithout(ctx, ticket))
      } catch (error) {
        reject(error)
      }
    }
  })
}

module.exports = { endWithout, keepError, untilAdmitted }
