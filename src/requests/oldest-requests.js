'use strict'
// The requests longest in flight, for `snapshot().oldest`: those that wait for an answer first, for an orphan must not be
// hidden behind the event streams of an hour. Bounded, and nothing of the client's is in it: no URL, header or body.

const OLDEST = 10

/** @returns {import('../../index.js').RequestInFlight[]} */
function listOldest(recorder) {
  const waiting = []
  const answering = []
  for (const request of recorder.requests) {
    const list = request.hasAnswer ? answering : waiting
    if (list.length < OLDEST) list.push(request)
    if (waiting.length === OLDEST) break
  }
  return [...waiting, ...answering].slice(0, OLDEST).map((request) => recorder.describe(request))
}

module.exports = { listOldest }
