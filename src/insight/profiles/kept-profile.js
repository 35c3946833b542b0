'use strict'
// The last profile, kept for a few minutes for downloads: its JSON, compressed off the loop. pprof is made when it is asked for.

const { promisify } = require('node:util')
const zlib = require('node:zlib')

const gzip = promisify(zlib.gzip)
const gunzip = promisify(zlib.gunzip)
const KEEP_MS = 300_000
/** So many nodes become text in about a millisecond. */
const NODES_AT_ONCE = 500

class KeptProfile {
  #clock
  #makePprof
  /** @type {{ zipped: Buffer, atMs: number, durationMs: number } | undefined} */
  #last
  #timer

  /**
   * @param {{ clock: import('../../clock').Clock,
   *   makePprof: (profile: any, when: { atMs: number, durationMs: number }) => Promise<Buffer> }} parts
   */
  constructor({ clock, makePprof }) {
    this.#clock = clock
    this.#makePprof = makePprof
  }

  /** @param {any} profile @param {{ atMs: number, durationMs: number }} when */
  async keep(profile, when) {
    const zipped = await gzip(await textOf(profile, () => this.#nextTurn()))
    this.forget()
    this.#last = { zipped, ...when }
    this.#timer = this.#clock.after(KEEP_MS, () => this.forget())
  }

  get isKept() {
    return this.#last !== undefined
  }

  get atMs() {
    return this.#last?.atMs
  }

  /** @returns {Buffer | undefined} JSON, gzipped */
  get zipped() {
    return this.#last?.zipped
  }

  /** @returns {Promise<Buffer | undefined>} */
  async json() {
    return this.#last && (await gunzip(this.#last.zipped))
  }

  /** @returns {Promise<Buffer | undefined>} gzipped */
  async pprof() {
    const last = this.#last
    if (last === undefined) return undefined
    const profile = JSON.parse((await gunzip(last.zipped)).toString())
    await this.#nextTurn()
    return this.#makePprof(profile, last)
  }

  #nextTurn() {
    return new Promise((resolve) => void this.#clock.afterTurn(() => resolve(undefined)))
  }

  forget() {
    if (this.#last === undefined) return
    this.#clock.cancel(this.#timer)
    this.#last = undefined
  }
}

/** JSON, made in several loop turns. */
async function textOf({ nodes, ...rest }, nextTurn) {
  if (nodes === undefined) return JSON.stringify(rest)
  const pieces = []
  for (let i = 0; i < nodes.length; i += NODES_AT_ONCE) {
    pieces.push(
      nodes
        .slice(i, i + NODES_AT_ONCE)
        .map((node) => JSON.stringify(node))
        .join()
    )
    await nextTurn()
  }
  return `{"nodes":[${pieces.join()}],${JSON.stringify(rest).slice(1)}`
}

module.exports = { KeptProfile }
