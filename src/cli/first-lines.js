'use strict'
// First lines of the live page's stream: the seconds of the last ten minutes, and the state.

/**
 * @import { LivePoint } from '../../index.js'
 * @import { AdminClient, LiveState } from './admin-client'
 */

/** @param {AdminClient} client @param {AbortController} [abort] ends it earlier */
async function firstLines(client, abort = new AbortController()) {
  /** @type {{ history: LivePoint[], state: LiveState | undefined }} */
  const first = { history: [], state: undefined }
  await client.followLines(
    '/live',
    (line) => {
      Object.assign(first, line)
      if (line.state !== undefined) abort.abort()
    },
    abort.signal
  )
  return first
}

module.exports = { firstLines }
