'use strict'
// Reads the file of a report into a lent buffer. The file may be anything: a pipe does not block, a link is
// not followed, and no more is read than a report may have. A file that is not a report makes its worker
// `unreadable` and does not fail the scrape.

const { constants, promises } = require('node:fs')

/** @typedef {{ take: (length: number) => Buffer, giveBack: () => void }} Loan */

/** Allocates with a margin, because reports grow slightly from scrape to scrape. @param {number} length */
const allocate = (length) => Buffer.allocUnsafeSlow(length + (length >>> 3))

/**
 * Buffers for reports, lent for one scrape and reused by the next: 1.4 MB for each worker with 1000 series.
 * With new buffers for each scrape, every third scrape caused a major collection of 5 to 13 ms.
 */
class ReportBuffers {
  /** @type {Buffer[]} */
  #spare = []

  /**
   * @returns {Loan} to be given back when nothing reads its buffers. Spare buffers that the loan did not take
   *   are dropped
   */
  lend() {
    const spare = this.#spare
    /** @type {Buffer[]} */
    const lent = []
    this.#spare = []
    return {
      take(length) {
        const at = spare.findIndex((each) => each.length >= length)
        const buffer = at === -1 ? allocate(length) : spare.splice(at, 1)[0]
        lent.push(buffer)
        return buffer.subarray(0, length)
      },
      giveBack: () => {
        this.#spare = lent
      },
    }
  }
}

/** @param {Buffer[]} pieces @param {Loan} loan */
function joinPieces(pieces, loan) {
  const whole = loan.take(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) at += piece.copy(whole, at)
  return whole
}

/** Enough for 45 000 series. */
const MAX_BYTES = 64 * 1024 * 1024
// Windows has neither flag.
const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = constants
/**
 * Errors that say nothing about the file: it was removed, or no file can be opened now.
 *
 * @type {ReadonlySet<string | undefined>}
 */
const NOT_ABOUT_FILE = new Set(['ENOENT', 'EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR'])

/**
 * @param {string} name
 * @param {Loan} loan provides the buffer
 * @returns {Promise<{ report?: Buffer, touchedMs: number, error?: unknown }>} with an error if the file
 *   cannot be a report
 */
async function readReport(name, loan) {
  try {
    const file = await promises.open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      return await readAll(file, loan)
    } finally {
      await file.close()
    }
  } catch (error) {
    if (NOT_ABOUT_FILE.has(/** @type {NodeJS.ErrnoException} */ (error).code)) throw error
    return { touchedMs: 0, error }
  }
}

/**
 * Reads a whole file. If the file is replaced meanwhile, the whole old file is read.
 *
 * @param {import('node:fs/promises').FileHandle} file
 * @param {Loan} loan
 */
async function readAll(file, loan) {
  const stat = await file.stat()
  if (!stat.isFile()) throw new Error('it is not a regular file')
  if (stat.size > MAX_BYTES)
    throw new Error(`it has ${stat.size} bytes, but a report has at most ${MAX_BYTES}`)
  const report = loan.take(stat.size)
  const { bytesRead } = await file.read(report, 0, stat.size, 0)
  return { report: report.subarray(0, bytesRead), touchedMs: stat.mtimeMs }
}

module.exports = { MAX_BYTES, ReportBuffers, joinPieces, readReport }
