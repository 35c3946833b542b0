'use strict'
// The oldest requests in flight, for `snapshot().oldest`: requests without a response first, so that long event
// streams do not hide a request that hangs. Bounded, and without data of the client: no URL, header or body.

const MAX_SHOWN = 10

/**
 * @import { Recorder } from './recorder'
 * @import { Request } from './request'
 */

/** @param {Recorder} recorder @returns {import('../../../index.js').RequestInFlight[]} */
function listOldest(recorder) {
  /** @type {Request[]} */
  const waiting = []
  /** @type {Request[]} */
  const answering = []
  for (const request of recorder.requests) {
    // It is meant to wait, and each client has one.
    if (request.isLongPoll) continue
    const list = request.hasAnswer ? answering : waiting
    if (list.length < MAX_SHOWN) list.push(request)
    if (waiting.length === MAX_SHOWN) break
  }
  return [...waiting, ...answering].slice(0, MAX_SHOWN).map((request) => recorder.describe(request))
}

module.exports = { listOldest }
