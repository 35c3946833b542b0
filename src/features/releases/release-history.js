'use strict'
// This release and the previous one. The figures are written on close and on exit. They are also written
// every ten minutes, in case the process is killed. A loop turn that comes anyway writes them, which takes
// about 4 ms for 50 routes. Quantiles of several processes cannot be merged, so the process with the most
// requests represents its release. So the order of writes does not matter, and restarts do not matter either.

// Loaded with the instance, and not with the first snapshot. By then the application may have given up the
// right to read files.
const { compareReleases, takeFigures } = require('./release-figures')

/**
 * @import { InternalErrors } from '../../core/errors/internal-errors'
 * @import { Instance } from '../../instance'
 * @import { ReleaseFile, ReleaseRecord } from './release-file'
 */

/** Longest version or revision, because they become labels. */
const MAX_LENGTH = 128

/** The first is set by npm, to the version of the application whose script it runs. */
const VERSION_VARIABLES = ['npm_package_version', 'HEROKU_RELEASE_VERSION', 'K_REVISION']
/** Variables of platforms that run the process come first, then those of systems that build it. */
const REVISION_VARIABLES = [
  'HEROKU_SLUG_COMMIT',
  'HEROKU_BUILD_COMMIT',
  'RENDER_GIT_COMMIT',
  'VERCEL_GIT_COMMIT_SHA',
  'RAILWAY_GIT_COMMIT_SHA',
  'SOURCE_VERSION',
  'SOURCE_COMMIT',
  'GITHUB_SHA',
  'CI_COMMIT_SHA',
  'BITBUCKET_COMMIT',
  'CIRCLE_SHA1',
  'BUILDKITE_COMMIT',
  'DRONE_COMMIT_SHA',
  'TRAVIS_COMMIT',
  'BUILD_SOURCEVERSION',
  'CODEBUILD_RESOLVED_SOURCE_VERSION',
  'GIT_COMMIT',
  'GIT_SHA',
]

/** @typedef {{ version: string, revision: string }} Release empty if unknown */

/**
 * Returns the release from the options, or else from variables of npm, platforms and CI systems.
 *
 * @param {{ version: string | undefined, revision: string | undefined }} given
 * @param {Record<string, string | undefined>} [environment]
 * @returns {Release}
 */
function releaseOf({ version, revision }, environment = process.env) {
  /** @param {string[]} names */
  const first = (names) => names.map((name) => environment[name]?.trim()).find(Boolean) ?? ''
  return Object.freeze({
    version: (version ?? first(VERSION_VARIABLES)).slice(0, MAX_LENGTH),
    revision: (revision ?? first(REVISION_VARIABLES)).slice(0, MAX_LENGTH),
  })
}

/** @param {Release} one @param {Release} other */
const isSameRelease = (one, other) => one.version === other.version && one.revision === other.revision

const FIRST_SAVE_MS = 60_000
const SAVE_INTERVAL_MS = 600_000

class ReleaseHistory {
  /** @type {{ version: string, revision: string, since: string }} */
  current
  /** @type {ReleaseRecord | undefined} */
  previous
  #clock
  #internalErrors
  #takeFigures
  /** @type {ReleaseFile | undefined} */
  #file
  #dueMs = Number.POSITIVE_INFINITY
  #onExit = () => this.#save()

  /**
   * @param {{ options: { version: string | undefined, revision: string | undefined, file: string |
   *   undefined }, clock: import('../../core/clock').Clock, internalErrors: InternalErrors,
   *   warn: (fields: object, message: string) => void,
   *   takeFigures: (maxRoutes: number) => ReturnType<typeof import('./release-figures').takeFigures> }} deps
   */
  constructor({ options, clock, internalErrors, warn, takeFigures }) {
    this.#clock = clock
    this.#internalErrors = internalErrors
    this.#takeFigures = takeFigures
    this.current = { ...releaseOf(options), since: textOf(clock.wallMs()) }
    if (options.file === undefined) return
    if (this.current.version === '' && this.current.revision === '') {
      warn({}, 'spillway: release.file needs release.version or release.revision to distinguish releases')
      return
    }
    const { ReleaseFile } = require('./release-file')
    this.#file = new ReleaseFile(options.file)
    this.#begin(this.#file)
  }

  /** @param {ReleaseFile} file */
  #begin(file) {
    this.#internalErrors.guard('release.file', () => this.#restore(file.read()))
    this.#dueMs = this.#clock.now() + FIRST_SAVE_MS
    process.on('exit', this.#onExit)
  }

  /** @param {unknown} _sample @param {Parameters<typeof compareReleases>[1]} snapshot */
  section(_sample, snapshot) {
    return compareReleases(this, snapshot)
  }

  /**
   * Continues the last release if this process belongs to it. Otherwise a new release begins, even after a
   * rollback.
   *
   * @param {ReleaseRecord[]} releases
   */
  #restore(releases) {
    const last = releases.at(-1)
    if (last === undefined) return
    if (isSameRelease(last, this.current)) this.current.since = last.since
    // This release is the latest, even if the wall clock was set back.
    else if (last.since >= this.current.since) this.current.since = textOf(Date.parse(last.since) + 1)
    this.#findPrevious(releases)
  }

  /**
   * Finds the previous release. Repeated at every save, because in a rolling deploy the previous release
   * still writes after this one has begun.
   *
   * @param {ReleaseRecord[]} releases
   */
  #findPrevious(releases) {
    /** @param {ReleaseRecord} each */
    const isBefore = (each) => !isSameRelease(each, this.current) && each.since < this.current.since
    this.previous = releases.filter(isBefore).at(-1)
  }

  /** @param {number} nowMs */
  onInterval(nowMs) {
    if (nowMs >= this.#dueMs) this.#save()
  }

  sample() {
    return this.current
  }

  /**
   * Writes the figures. An error is reported once, and the next save tries again, because a disk may be full
   * for an hour.
   */
  #save() {
    this.#dueMs = this.#clock.now() + SAVE_INTERVAL_MS
    this.#internalErrors.guard('release.file', () => {
      const file = /** @type {ReleaseFile} */ (this.#file)
      const releases = file.read()
      this.#findPrevious(releases)
      const { MAX_ROUTES } = require('./release-file')
      const figures = this.#takeFigures(MAX_ROUTES)
      const known = releases.find((each) => this.#isThisOne(each, releases))
      if (figures.requests.count <= (known?.requests.count ?? 0)) return
      const own = { ...this.current, until: textOf(this.#clock.wallMs()), ...figures }
      if (known !== undefined && known.since < own.since) own.since = known.since
      file.write([...releases.filter((each) => each !== known), own].sort(byTime))
    })
  }

  /**
   * Whether a record is of this release. After a rollback the same version counts as a new release, because
   * another release began in between.
   *
   * @param {ReleaseRecord} each
   * @param {ReleaseRecord[]} releases
   */
  #isThisOne(each, releases) {
    const { since } = this.current
    /** @param {ReleaseRecord} other */
    const isBetween = (other) =>
      !isSameRelease(other, each) && each.since < other.since && other.since < since
    return isSameRelease(each, this.current) && !releases.some(isBetween)
  }

  close() {
    process.off('exit', this.#onExit)
    if (this.#file !== undefined) this.#save()
    this.#file = undefined
    this.#dueMs = Number.POSITIVE_INFINITY
  }
}

/** @param {ReleaseRecord} one @param {ReleaseRecord} other */
const byTime = (one, other) => Date.parse(one.since) - Date.parse(other.since)
/** @param {number} wallMs */
const textOf = (wallMs) => new Date(wallMs).toISOString()

/** @param {Pick<Instance, 'admission' | 'clock' | 'internalErrors' | 'options' | 'recorder' | 'warn'>} deps */
const releasesOf = (deps) => {
  const { clock, internalErrors, options, warn } = deps
  /** @param {number} maxRoutes */
  const figures = (maxRoutes) => takeFigures(deps, maxRoutes)
  return new ReleaseHistory({ clock, internalErrors, options: options.release, warn, takeFigures: figures })
}

exports.ReleaseHistory = ReleaseHistory
exports.releaseOf = releaseOf
exports.releasesOf = releasesOf
