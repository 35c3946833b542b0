'use strict'
// The file of a report. Before the run it is checked that the file can be written. A file that exists is
// kept. If the comparison fails, the report of the run is still written.

const { constants } = require('node:fs')
const { access, lstat, readFile, writeFile } = require('node:fs/promises')
const path = require('node:path')
const { makeDocument, readRun } = require('../../features/admin/report/document')
const { reportName } = require('../../features/admin/report/times')
const { CommandError } = require('../command-error')
const { printable } = require('../printable-text')

const MAX_NAMES = 20

/** @typedef {import('../../features/admin/report/run').Run} Run */

class ReportFile {
  #path
  #mayReplace

  /** @param {string | undefined} given @param {{ mayReplace: boolean, nowMs: number }} options */
  constructor(given, { mayReplace, nowMs }) {
    this.#path = given ?? reportName(nowMs)
    this.#mayReplace = mayReplace
  }

  /** Called before the run, so that a run of half an hour is not lost for want of a file. */
  async check() {
    const folder = path.dirname(path.resolve(this.#path))
    const found = await lstat(this.#path).catch(() => undefined)
    if (found?.isDirectory())
      throw new CommandError(`'${printable(this.#path)}' is a folder. Give another --out.`)
    if (found !== undefined && !this.#mayReplace)
      throw new CommandError(
        `'${printable(this.#path)}' exists. Give another --out, or --force to replace it.`
      )
    await access(found === undefined ? folder : this.#path, constants.W_OK).catch(() => {
      throw new CommandError(
        `'${printable(this.#path)}' cannot be written: its folder does not exist or is not writable. Give another --out.`
      )
    })
  }

  /**
   * @param {string} html
   * @returns {Promise<string>} the path that was written. The name of the file gets a number if a file of
   *   this name was created in the meantime
   */
  async write(html) {
    for (let number = 1; ; number++) {
      const file = number === 1 ? this.#path : numbered(this.#path, number)
      try {
        await writeFile(file, html, { flag: this.#mayReplace ? 'w' : 'wx' })
        return file
      } catch (cause) {
        const { code } = /** @type {NodeJS.ErrnoException} */ (cause)
        if (code !== 'EEXIST' || number === MAX_NAMES)
          throw new CommandError(`'${printable(file)}' cannot be written (${code}). Give another --out.`)
      }
    }
  }
}

/** @param {string} file @param {number} number */
function numbered(file, number) {
  const { dir, name, ext } = path.parse(file)
  return path.join(dir, `${name}-${number}${ext}`)
}

/** Reads the run of an earlier report. @param {string} file */
async function readReport(file) {
  let text
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error)
    throw new CommandError(
      `'${printable(file)}' cannot be read (${code}). Give a file that spillway report has written.`
    )
  }
  const run = readRun(text)
  if (run !== undefined) return run
  throw new CommandError(
    `'${printable(file)}' is not a report of this version. Give a file that spillway report has written.`
  )
}

/**
 * A run cannot be repeated, so a comparison that fails is left out, and the report says so.
 *
 * @param {Run} run @param {string} css @param {Run | undefined} baseline
 * @returns {{ html: string, run: Run }} the run as it is in the report
 */
function makeReport(run, css, baseline) {
  try {
    return { html: makeDocument(run, css, baseline).html, run }
  } catch (error) {
    if (baseline === undefined) throw error
    const why = /** @type {Error} */ (error).message
    const notice = `The comparison with the earlier report failed, and is left out. ${why}`
    return makeReport({ ...run, notices: [...run.notices, notice] }, css, undefined)
  }
}

exports.ReportFile = ReportFile
exports.makeReport = makeReport
exports.readReport = readReport
