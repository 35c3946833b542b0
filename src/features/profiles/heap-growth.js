'use strict'
// Compares two heap profiles. Each shows what was allocated while it ran and is still alive. A cache that warms up grows in one of them, a
// leak in both: the growth of a site is the smaller of the two, scaled to the same time.

const { rounded } = require('./profile-tables')

const MOST_ROWS = 50

/**
 * @import { PublicRow } from './profile-tables'
 * @typedef {{ functions: PublicRow<'Bytes'>[], durationMs: number }} Result
 */

/** What grows most comes first. @param {Result} before @param {Result} now */
function growthOf(before, now) {
  const scale = now.durationMs / before.durationMs
  const bytesBefore = new Map(before.functions.map((row) => [siteOf(row), row.selfBytes * scale]))
  return now.functions
    .map(({ name, file, line, package: of, selfBytes, isHandler }) => {
      const beforeBytes = bytesBefore.get(siteOf({ name, file, line })) ?? 0
      return {
        name,
        file,
        line,
        package: of,
        selfBytes,
        beforeBytes: rounded(beforeBytes),
        growthBytes: rounded(Math.min(selfBytes, beforeBytes)),
        isHandler,
      }
    })
    .sort((a, b) => b.growthBytes - a.growthBytes || b.selfBytes - a.selfBytes)
    .slice(0, MOST_ROWS)
}

/** @param {Pick<PublicRow<'Bytes'>, 'name' | 'file' | 'line'>} row */
const siteOf = ({ name, file, line }) => `${file}:${line}:${name}`

module.exports = { growthOf }
