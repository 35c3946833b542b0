'use strict'
// This release and the one before it. Its figures are written when the process closes or exits, and every ten minutes
// by whichever loop turn comes next, for a process that is killed: no timer, and about 4 ms for 50 routes.
//
// Processes that share the file merge nothing, for quantiles cannot be: the one that has answered the most requests
// speaks for its release. So it does not matter who writes last, nor that one process was restarted a minute ago.

const { isSameRelease, releaseOf } = require('./release')
const { MOST_ROUTES, ReleaseFile } = require('./release-file')

const FIRST_SAVE_MS = 60_000
const SAVE_MS = 600_000

class ReleaseHistory {
  /** @type {{ version: string, revision: string, since: string }} */
  current
  /** @type {import('./release-file').ReleaseRecord | undefined} */
  previous
  #clock
  #faults
  #takeFigures
  #file
  #dueMs = Number.POSITIVE_INFINITY
  #onExit = () => this.#save()

  /**
   * @param {{ options: { version: string | undefined, revision: string | undefined, file: string | undefined },
   *   clock: any, faults: any, warn: (fields: object, message: string) => void, takeFigures: (mostRoutes: number) => any }} parts
   */
  constructor({ options, clock, faults, warn, takeFigures }) {
    this.#clock = clock
    this.#faults = faults
    this.#takeFigures = takeFigures
    this.current = { ...releaseOf(options), since: textOf(clock.wallMs()) }
    if (options.file === undefined) return
    if (this.current.version === '' && this.current.revision === '') {
      warn({}, 'spillway: release.file needs release.version or release.revision, to tell releases apart')
      return
    }
    this.#file = new ReleaseFile(options.file)
    this.#begin()
  }

  #begin() {
    this.#faults.guard('release.file', () => this.#take(this.#file.read()))
    this.#dueMs = this.#clock.now() + FIRST_SAVE_MS
    process.on('exit', this.#onExit)
  }

  get isKept() {
    return this.#file !== undefined
  }

  /** A process of the release that began last goes on with it. With any other a release begins, even if it was there before. */
  #take(releases) {
    const last = releases.at(-1)
    if (last === undefined) return
    if (isSameRelease(last, this.current)) this.current.since = last.since
    // Clocks jump: what begins now began last all the same.
    else if (last.since >= this.current.since) this.current.since = textOf(Date.parse(last.since) + 1)
    this.#lookBack(releases)
  }

  /** Again at every save: under a rolling deploy the release before goes on after this one has begun. */
  #lookBack(releases) {
    const isBefore = (each) => !isSameRelease(each, this.current) && each.since < this.current.since
    this.previous = releases.filter(isBefore).at(-1)
  }

  // Hot path: one comparison a loop turn, and none without a file.
  onTurn = (_busyMs, nowMs) => {
    if (nowMs >= this.#dueMs) this.#save()
  }

  /** What cannot be read or written is told once, and tried again: a disk may be full for an hour. */
  #save() {
    this.#dueMs = this.#clock.now() + SAVE_MS
    this.#faults.guard('release.file', () => {
      const releases = this.#file.read()
      this.#lookBack(releases)
      const figures = this.#takeFigures(MOST_ROUTES)
      const known = releases.find((each) => this.#isThisOne(each, releases))
      if (figures.requests.count <= (known?.requests.count ?? 0)) return
      const own = { ...this.current, until: textOf(this.#clock.wallMs()), ...figures }
      if (known !== undefined && known.since < own.since) own.since = known.since
      this.#file.write([...releases.filter((each) => each !== known), own].sort(byTime))
    })
  }

  /** The same release is another one where it began before one that has come since: it was rolled back to. */
  #isThisOne(each, releases) {
    const { since } = this.current
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

const byTime = (one, other) => Date.parse(one.since) - Date.parse(other.since)
const textOf = (wallMs) => new Date(wallMs).toISOString()

module.exports = { ReleaseHistory }
