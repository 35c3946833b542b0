'use strict'
// What the figures of a table are about, in words: exactly the run, or only a part of it, or more than it.

/**
 * @import { Run } from './run'
 * @import { Times } from './times'
 */

/** @param {Run} run @param {Times} times */
function coversOf(run, times) {
  return {
    run: 'Exactly this run: counters at its end, without those at its start.',
    minute: `Only the last minute, from ${times.time(run.minuteFrom)} on: the counters at the start of the run are not known.`,
    process: `Since the process started, ${times.moment(run.startedAt)}: not only this run, the start of which is not known.`,
  }
}

module.exports = { coversOf }
