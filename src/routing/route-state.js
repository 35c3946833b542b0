'use strict'
// What the routers note of one request while they route it, kept on its response: that is the one object every
// layer of every framework is handed. The woven layers write it, template.js reads it when the answer has ended.

const kTrail = Symbol('spillway.trail')

class Trail {
  constructor() {
    /** @type {InstanceType<typeof import('./route-node').Place> | undefined} where in the router tree the request is now */
    this.place = undefined
    /** Where an error came from: routers unwind before an outer error handler answers. */
    this.origin = undefined
    /** The Route object last dispatched. */
    this.route = undefined
    /** How much of the URL the mounts above have taken. */
    this.baseLength = 0
    /** A layer went on after it had answered: what follows does not change who did. */
    this.isSettled = false
    /** A body parser has refused the body: before any route, or the route is the label. */
    this.hasBadBody = false
    /** Koa's context, and the koa-mount prefixes entered. */
    this.ctx = undefined
    this.mounts = undefined
  }
}

/** @returns {Trail | undefined} none of a context without an answer, as koa-websocket has them */
const trailOf = (res) => res?.[kTrail]

module.exports = { Trail, kTrail, trailOf }
