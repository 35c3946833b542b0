'use strict'
// The file that carries the figures of a release to the next release. It contains at most two releases, and
// has a few kilobytes. It is written under another name and then renamed, so that a reader or a crash never
// sees half a file. A foreign file at the path is reported once and never overwritten, since it may be the
// user's package.json. An empty file counts as ours, because a power failure can lose the bytes of a renamed
// file.

const { randomBytes } = require('node:crypto')
const fs = require('node:fs')

const FORMAT = 'spillway.releases.1'
const MAX_BYTES = 256 * 1024
const MAX_ROUTES = 50
const MAX_RELEASES = 2
const MAX_TEXT_LENGTH = 256

/** @type {(keyof Figures)[]} */
const FIGURES = ['count', 'p50Ms', 'p95Ms', 'p99Ms', 'errorRatio', 'shedRatio']

/**
 * @typedef {{ count: number, p50Ms: number, p95Ms: number, p99Ms: number, errorRatio: number,
 *   shedRatio: number }} Figures
 */
/**
 * @typedef {{ version: string, revision: string, since: string, until: string, requests: Figures,
 *   routes: ({ method: string, route: string } & Figures)[] }} ReleaseRecord
 */

/** @param {unknown} value @returns {value is string} */
const isText = (value) => typeof value === 'string' && value.length <= MAX_TEXT_LENGTH
/** The format of `toISOString()`, because times are compared as text. @param {unknown} value */
const isTime = (value) => isText(value) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)
/** @param {unknown} value */
const isFigure = (value) => Number.isFinite(value) && /** @type {number} */ (value) >= 0
/** @param {Partial<Figures> | null | undefined} value */
const hasFigures = (value) =>
  typeof value === 'object' && value !== null && FIGURES.every((name) => isFigure(value[name]))
/** @param {Partial<ReleaseRecord['routes'][number]>} value */
const isRoute = (value) => hasFigures(value) && isText(value.method) && isText(value.route)

/** @param {Partial<ReleaseRecord> | null} value @returns {value is ReleaseRecord} */
function isRelease(value) {
  return (
    typeof value === 'object' &&
    value !== null &&
    [value.version, value.revision].every(isText) &&
    [value.since, value.until].every(isTime) &&
    hasFigures(value.requests) &&
    Array.isArray(value.routes) &&
    value.routes.length <= MAX_ROUTES &&
    value.routes.every(isRoute)
  )
}

/** @param {string} path @param {string} why */
const foreignFile = (path, why) =>
  new Error(`'${path}' is not a file that spillway has written (${why}). Delete it, or use another path.`)

class ReleaseFile {
  #path

  /** @param {string} path */
  constructor(path) {
    this.#path = path
  }

  /** @returns {ReleaseRecord[]} ordered by the start of the releases; empty without a file */
  read() {
    const stat = fs.statSync(this.#path, { throwIfNoEntry: false })
    if (stat === undefined || (stat.isFile() && stat.size === 0)) return []
    // A pipe would block the read, and a device may have no end.
    if (!stat.isFile()) throw foreignFile(this.#path, 'not a regular file')
    if (stat.size > MAX_BYTES) throw foreignFile(this.#path, `${stat.size} bytes`)
    return this.#parse(fs.readFileSync(this.#path, 'utf8'))
  }

  /** @param {string} text @returns {ReleaseRecord[]} */
  #parse(text) {
    /** @type {{ format?: unknown, releases?: unknown } | null} */
    let content
    try {
      content = JSON.parse(text)
    } catch {
      throw foreignFile(this.#path, 'not JSON')
    }
    if (content?.format !== FORMAT) throw foreignFile(this.#path, 'another format')
    const { releases } = content
    if (!Array.isArray(releases) || releases.length > MAX_RELEASES || !releases.every(isRelease)) {
      throw foreignFile(this.#path, 'other contents')
    }
    return releases
  }

  /** @param {ReleaseRecord[]} releases ordered by their start; the last ones are kept */
  write(releases) {
    const text = JSON.stringify({ format: FORMAT, releases: releases.slice(-MAX_RELEASES) })
    // A symbolic link in the folder of a release points to a file that outlives that folder: replace the
    // file, not the link.
    const path = fs.existsSync(this.#path) ? fs.realpathSync(this.#path) : this.#path
    const draft = `${path}.${randomBytes(6).toString('hex')}.tmp`
    try {
      fs.writeFileSync(draft, `${text}\n`, { flag: 'wx' })
      fs.renameSync(draft, path)
    } catch (error) {
      fs.rmSync(draft, { force: true })
      throw error
    }
  }
}

exports.MAX_ROUTES = MAX_ROUTES
exports.ReleaseFile = ReleaseFile
