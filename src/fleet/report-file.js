'use strict'
// Reads a file of the fleet's directory, whatever is there under its name. A pipe is not waited for, no link is followed, and
// no more is read than a report may have: what is no report of ours costs a scrape nothing but a state of its worker.

const { constants, promises } = require('node:fs')

/** Some 45 000 series. */
const MOST_BYTES = 64 * 1024 * 1024
// Windows has neither.
const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = constants
/** These say nothing of the file: it is not there any more, or nothing could be opened now. */
const NOT_OF_FILE = new Set(['ENOENT', 'EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR'])

/**
 * @param {string} name
 * @param {import('./report-buffers').Loan} loan what it is read into
 * @returns {Promise<{ report?: Buffer, touchedMs: number, error?: Error }>} with an error where it cannot be a report
 */
async function readReport(name, loan) {
  try {
    const file = await promises.open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      return await readAll(file, loan)
    } finally {
      await file.close()
    }
  } catch (/** @type {any} */ error) {
    if (NOT_OF_FILE.has(error.code)) throw error
    return { touchedMs: 0, error }
  }
}

/** Where the file is replaced meanwhile, all of the old one is read. */
async function readAll(file, loan) {
  const stat = await file.stat()
  if (!stat.isFile()) throw new Error('it is no file')
  if (stat.size > MOST_BYTES) throw new Error(`it has ${stat.size} bytes, and a report at most ${MOST_BYTES}`)
  const report = loan.take(stat.size)
  const { bytesRead } = await file.read(report, 0, stat.size, 0)
  return { report: report.subarray(0, bytesRead), touchedMs: stat.mtimeMs }
}

module.exports = { MOST_BYTES, readReport }
