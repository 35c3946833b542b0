'use strict'
// `POST /heap-snapshot?confirm=yes`: the whole heap, for the developer tools of a browser. Making it blocks
// the loop for seconds and may take ten times the memory of the heap, so the cost is shown first. The
// snapshot contains everything in memory, secrets too. So the server needs a token.

const { pipeline } = require('node:stream')
const { getHeapSnapshot } = require('node:v8')
const { bytes } = require('../../core/readable')
const { snapshotBytes } = require('../profiles/refusal')
const { sendText } = require('./profile-answers')

/**
 * @import { Writable } from 'node:stream'
 * @import { Handler } from '../../../index.js'
 * @import { Profiles } from '../profiles/profiles'
 * @import { Memory } from '../profiles/refusal'
 */

/** Lower bound of the speed at which V8 goes through a heap of small objects. */
const BYTES_A_SECOND = 10 * 2 ** 20

const ANOTHER = { status: 409, text: 'Another heap snapshot is being sent. Wait until it has ended.' }

/**
 * @param {{ profiles: Profiles }} deps
 * @returns {Handler}
 */
function heapSnapshotPage({ profiles }) {
  const { rest } = profiles
  let isTaking = false
  return (req, res) => {
    const { memory } = profiles
    const isPost = req.method === 'POST'
    if (!isPost || !/[?&]confirm=yes(&|$)/.test(req.url ?? ''))
      return sendText(res, { status: isPost ? 400 : 200, text: costOf(memory) })
    const refusal = isTaking ? ANOTHER : (profiles.snapshotRefusal ?? rest.refusal)
    if (refusal !== undefined) return sendText(res, refusal)
    res.writeHead(200, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Disposition': `attachment; filename="spillway-${process.pid}.heapsnapshot"`,
    })
    isTaking = true
    const snapshot = rest.pausing(() => {
      const made = getHeapSnapshot()
      // With the first read, Node serializes the whole snapshot. The serialization takes half as long as the
      // rest, so it belongs to the measured pause.
      made.read(0)
      return made
    })
    // A client that disconnects ends the stream, which frees the snapshot.
    pipeline(snapshot, /** @type {Writable} */ (res), () => {
      isTaking = false
    })
  }
}

/** @param {Memory} memory */
function costOf(memory) {
  const seconds = Math.max(1, Math.round(memory.heapUsedBytes / BYTES_A_SECOND))
  return `A heap snapshot blocks the event loop for up to ${seconds} s and may take ${bytes(snapshotBytes(memory))} of memory for a while. The snapshot contains everything in memory, secrets too. POST with ?confirm=yes takes it.`
}

module.exports = { heapSnapshotPage }
