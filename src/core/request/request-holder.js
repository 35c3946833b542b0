'use strict'
// Finds Node's request and its response in what a user gives to a member such as `signal()`. Node's request
// does not hold its response. Its socket holds the response that is being written. With pipelined requests,
// that response may belong to another request. So a feature whose members take a request links each request
// to its response when the request is counted.

const { SpillwayError } = require('../errors/errors')
const { kRouteState } = require('../route/route-state')

/**
 * @import { NodeRequest } from '../http/entrance'
 * @import { RoutedResponse, RoutedStream } from '../route/route-state'
 * @import { Recorder } from './recorder'
 * @import { RequestRecord } from './request-record'
 * @typedef {NodeRequest & { [kResponse]?: RoutedResponse }} Linked
 * @typedef {{ req?: Linked, res?: RoutedResponse, raw?: unknown, writeHead?: unknown }} Holder
 * @typedef {{ req: Linked, res: RoutedResponse | undefined }} Held
 */

/** Property of Node's request that holds its response. A property costs less than an entry in a WeakMap. */
const kResponse = Symbol('spillway.response')
/** How many nested `raw` properties are followed. In a request of Fastify, Node's request is one deep. */
const MAX_RAW = 3

// Hot path while a feature whose members take a request is on: once a request.
/** @param {RequestRecord} request */
function linkResponse(request) {
  /** @type {Linked} */
  const req = request.req
  req[kResponse] = request.res
}

/** Links the requests that were counted before the feature started. @param {Recorder} recorder */
function linkInFlight({ requests }) {
  for (const request of requests) linkResponse(request)
}

/**
 * @param {unknown} given of any type @returns {Held | undefined} undefined if `given` does not hold a request
 */
function heldBy(given) {
  try {
    return find(given, MAX_RAW)
  } catch {
    // A getter of a foreign object may throw.
    return undefined
  }
}

/** @param {unknown} given @param {string} member that it was given to @returns {Held} */
function requireHeld(given, member) {
  const held = heldBy(given)
  if (held !== undefined) return held
  throw new SpillwayError(
    'ERR_SPILLWAY_NOT_A_REQUEST',
    `The argument of ${member}() must be a request or a response of Node, Express, Restify or Fastify, or a context of Koa.`
  )
}

/** @param {unknown} given @param {number} mostRaw @returns {Held | undefined} */
function find(given, mostRaw) {
  const holder = /** @type {Holder} */ (Object(given))
  const { req, res, raw, writeHead } = holder
  if (typeof writeHead === 'function')
    return req === undefined ? undefined : { req, res: /** @type {RoutedResponse} */ (holder) }
  const own = /** @type {Linked} */ (holder)
  // A context of Koa, or a request of Express.
  if (res !== undefined && res !== null) return { req: req ?? own, res }
  if (raw !== undefined) return mostRaw > 0 ? find(raw, mostRaw - 1) : undefined
  if (own.headers === undefined || own.socket == null) return undefined
  return { req: own, res: own[kResponse] ?? unlinkedResponse(own) }
}

/**
 * Returns the response of a request that this instance does not count, or has not counted yet.
 *
 * @param {Linked} req
 * @returns {RoutedResponse | undefined}
 */
function unlinkedResponse(req) {
  const { stream, socket } = req
  if (stream !== undefined) return /** @type {RoutedStream} */ (stream)[kRouteState]?.res
  const written = socket._httpMessage
  return written?.req === req ? written : undefined
}

exports.heldBy = heldBy
exports.linkInFlight = linkInFlight
exports.linkResponse = linkResponse
exports.requireHeld = requireHeld
