'use strict'
// The file in which releases leave their figures for the next: at most two of them, a few kilobytes, written whole
// under another name and moved into place, so that who reads it at that moment or is killed in between sees a whole one.
//
// Whatever is at that path and is not ours is left alone, for it may be somebody's package.json: it is told once, and
// then nothing is kept. An empty file is ours: power went before its bytes were on the disk.

const { randomBytes } = require('node:crypto')
const fs = require('node:fs')

const FORMAT = 'spillway.releases.1'
const MOST_BYTES = 256 * 1024
const MOST_ROUTES = 50
const MOST_RELEASES = 2
const LONGEST = 256

const FIGURES = ['count', 'p50Ms', 'p95Ms', 'p99Ms', 'errorRatio', 'shedRatio']

/** @typedef {{ count: number, p50Ms: number, p95Ms: number, p99Ms: number, errorRatio: number, shedRatio: number }} Figures */
/**
 * @typedef {{ version: string, revision: string, since: string, until: string, requests: Figures,
 *   routes: ({ method: string, route: string } & Figures)[] }} ReleaseRecord
 */

const isText = (value) => typeof value === 'string' && value.length <= LONGEST
/** As `toISOString` writes it: times are compared as text. */
const isTime = (value) => isText(value) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)
const isFigure = (value) => Number.isFinite(value) && value >= 0
const hasFigures = (value) =>
  typeof value === 'object' && value !== null && FIGURES.every((name) => isFigure(value[name]))
const isRoute = (value) => hasFigures(value) && isText(value.method) && isText(value.route)

function isRelease(value) {
  return (
    typeof value === 'object' &&
    value !== null &&
    [value.version, value.revision].every(isText) &&
    [value.since, value.until].every(isTime) &&
    hasFigures(value.requests) &&
    Array.isArray(value.routes) &&
    value.routes.length <= MOST_ROUTES &&
    value.routes.every(isRoute)
  )
}

const notOurs = (path, why) =>
  new Error(`'${path}' is not a file that spillway has written (${why}). Delete it, or give another path.`)

class ReleaseFile {
  #path

  constructor(path) {
    this.#path = path
  }

  /** @returns {ReleaseRecord[]} in the order they began; none where there is no file yet */
  read() {
    const stat = fs.statSync(this.#path, { throwIfNoEntry: false })
    if (stat === undefined || (stat.isFile() && stat.size === 0)) return []
    // A pipe would block, a device never end.
    if (!stat.isFile()) throw notOurs(this.#path, 'no regular file')
    if (stat.size > MOST_BYTES) throw notOurs(this.#path, `${stat.size} bytes`)
    return this.#parse(fs.readFileSync(this.#path, 'utf8'))
  }

  #parse(text) {
    let content
    try {
      content = JSON.parse(text)
    } catch {
      throw notOurs(this.#path, 'no JSON')
    }
    if (content?.format !== FORMAT) throw notOurs(this.#path, 'another format')
    const { releases } = content
    if (!Array.isArray(releases) || releases.length > MOST_RELEASES || !releases.every(isRelease)) {
      throw notOurs(this.#path, 'other contents')
    }
    return releases
  }

  /** @param {ReleaseRecord[]} releases the later ones are kept */
  write(releases) {
    const text = JSON.stringify({ format: FORMAT, releases: releases.slice(-MOST_RELEASES) })
    // Where the path is a link, what it points to outlives the folder of this release.
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

module.exports = { MOST_ROUTES, ReleaseFile }
