'use strict'
// The last profile, kept compressed for a few minutes for downloads. The pprof file is made at its first
// request.

const { promisify } = require('node:util')
const zlib = require('node:zlib')
const { workOn } = require('./profile-work')

const gunzip = promisify(zlib.gunzip)
const KEEP_MS = 300_000

/** @typedef {import('./profile-work').PprofTask} Kept */

class KeptProfile {
  #clock
  #work
  /** @type {Kept | undefined} */
  #last
  /** @type {NodeJS.Timeout | undefined} */
  #timer
  /** @type {Promise<Buffer> | undefined} */
  #pprof

  /** @param {{ clock: import('../../core/clock').Clock, work?: typeof workOn }} deps */
  constructor({ clock, work = workOn }) {
    this.#clock = clock
    this.#work = work
  }

  /** @param {Kept} kept */
  keep(kept) {
    this.forget()
    this.#last = kept
    this.#timer = this.#clock.after(KEEP_MS, () => this.forget())
  }

  /** @returns {number | undefined} when it was taken, in milliseconds since the epoch */
  get atMs() {
    return this.#last?.when.atMs
  }

  /** @returns {Buffer | undefined} JSON, gzipped */
  get zipped() {
    return this.#last && Buffer.from(this.#last.zipped)
  }

  /** @returns {Promise<Buffer | undefined>} */
  async json() {
    return this.#last && (await gunzip(this.#last.zipped))
  }

  /** @returns {Promise<Buffer | undefined>} gzipped, as the format requires */
  async pprof() {
    if (this.#last === undefined) return undefined
    // Made only once, because making it takes a thread.
    this.#pprof ??= this.#work(this.#last).then(({ pprof }) => Buffer.from(pprof))
    try {
      return await this.#pprof
    } catch (error) {
      this.#pprof = undefined
      throw error
    }
  }

  forget() {
    if (this.#last === undefined) return
    this.#clock.cancel(this.#timer)
    this.#last = this.#pprof = undefined
  }
}

exports.KeptProfile = KeptProfile
