'use strict'
// Growth between two readings of one sampler, by the function that allocates. V8 collects all garbage before
// a reading, so each reading has exactly the samples that are alive. Short-lived memory, such as the objects
// of a request, is in both readings.

const { ProfileTables, isHandlerRow, rounded } = require('./profile-tables')
const { SAMPLE_BYTES, heapTree } = require('./profile-tree')

/**
 * @import { CallFrames } from './call-frames'
 * @import { HeapProfile } from './profile-tree'
 */

const MAX_GROWING = 50
/**
 * Memory that was replaced between the readings is assumed equal in both, within this many standard
 * deviations.
 */
const DEVIATIONS = 2

/**
 * @param {HeapProfile} earlier
 * @param {HeapProfile} now a later reading of the same sampler
 * @param {CallFrames} frames
 */
function growthOf(earlier, now, frames) {
  /** @param {HeapProfile} profile @param {HeapProfile['samples']} samples */
  const rowsOf = ({ head }, samples) => new ProfileTables(heapTree(head, frames, samples)).functions
  const known = new Set(earlier.samples.map(({ ordinal }) => ordinal))
  const before = rowsOf(earlier, earlier.samples)
  const kept = rowsOf(
    now,
    now.samples.filter(({ ordinal }) => known.has(ordinal))
  )
  const found = []
  for (const [frame, row] of rowsOf(now, now.samples)) {
    const { name, file, line, package: of, self } = row
    const beforeBytes = before.get(frame)?.self ?? 0
    const replacedBytes = beforeBytes - (kept.get(frame)?.self ?? 0)
    const growthBytes = self - beforeBytes
    if (growthBytes <= chanceOf(replacedBytes)) continue
    found.push({
      name,
      file,
      line,
      package: of,
      isHandler: isHandlerRow(row),
      selfBytes: rounded(self),
      beforeBytes: rounded(beforeBytes),
      growthBytes: rounded(growthBytes),
    })
  }
  return found.sort((a, b) => b.growthBytes - a.growthBytes).slice(0, MAX_GROWING)
}

/**
 * How many bytes may seem to grow by chance. The number of samples in each reading varies by its square root.
 *
 * @param {number} bytes
 */
const chanceOf = (bytes) => DEVIATIONS * SAMPLE_BYTES * Math.sqrt((2 * Math.max(0, bytes)) / SAMPLE_BYTES)

exports.growthOf = growthOf
