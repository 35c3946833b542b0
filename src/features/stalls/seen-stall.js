'use strict'
// Describes one stall: its place, its call, and the request whose code ran.

const { placeOf } = require('../../core/stack-frames')
const { blockingCall, bodyBytesOf } = require('./blocking-call')

/**
 * @import { StallCause } from '../../../index.js'
 * @import { Request } from '../../core/request/request'
 * @import { Stack } from './stall-watcher'
 *
 * @typedef {{ method: string, route: string, request: WeakRef<Request> | undefined }} Reference
 * @typedef {Stack & { place: ReturnType<typeof placeOf>, reference: Reference | undefined }} Seen
 */

/** Used in place of a method if the code ran for an event of a socket. */
const EVENT = 'event'
const NO_PLACE = { function: null, file: null, begin: 0, line: null, package: null, frames: [] }

/**
 * Describes a stall. Garbage collection and a starved host have no function, so their stalls name no place.
 *
 * @param {StallCause} cause @param {Seen | undefined} seen @param {boolean} isStart
 */
function stallOf(cause, seen, isStart) {
  const isOurs = cause === 'javascript' || cause === 'native'
  const found = isOurs && seen?.place !== undefined ? seen : undefined
  const call = found && blockingCall(found.frames, cause === 'native')
  const place = (call?.frames && placeOf(call.frames)) ?? found?.place ?? NO_PLACE
  const reference = isOurs ? seen?.reference : undefined
  /** @type {'startup' | 'request' | 'event' | 'background' | null} */
  let origin = null
  if (isStart) origin = 'startup'
  else if (reference !== undefined) origin = reference.method === EVENT ? 'event' : 'request'
  else if (isOurs) origin = 'background'
  return {
    ...place,
    cause,
    origin,
    method: reference?.method ?? null,
    route: reference?.route ?? null,
    call: call?.name ?? null,
    bodyBytes: bodyBytesOf(call?.name, reference?.request?.deref()),
  }
}

exports.stallOf = stallOf
