'use strict'
// A token that only one member of a fleet holds at a time, such as the permission to answer 503 at `/readyz`.
// It is a file in the fleet's directory with the id of its holder. The file is made only if it does not
// exist, so two members never both hold the token. The file of a member that has ended is removed.

const { promises, rmSync } = require('node:fs')
const net = require('node:net')
const path = require('node:path')

/** @import { Directory } from './members/directory' */

const FILE = 'token'
const CONNECT_MS = 500

class Token {
  #directory
  #id
  #clock
  #hasIt = false

  /**
   * @param {{ directory: Directory, id: string, clock: Pick<import('../../core/clock').Clock, 'after' |
   *   'cancel'> }} deps
   */
  constructor({ directory, id, clock }) {
    this.#directory = directory
    this.#id = id
    this.#clock = clock
  }

  get #file() {
    return path.join(this.#directory.path, FILE)
  }

  /**
   * Takes the token if no member has it, and another member can serve meanwhile.
   *
   * @returns {Promise<boolean>}
   */
  async take() {
    if (this.#hasIt) return true
    if (!(await this.#hasOthers())) return false
    try {
      await promises.writeFile(this.#file, this.#id, { flag: 'wx', mode: 0o600 })
      this.#hasIt = true
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error
      await this.#removeStale()
    }
    return this.#hasIt
  }

  async #hasOthers() {
    const { socketIds } = await this.#directory.list()
    for (const id of socketIds) if (id !== this.#id && (await this.#isThere(id))) return true
    return false
  }

  /** Removes the file of a member that has ended. The next member that calls `take()` then finds no file. */
  async #removeStale() {
    const holder = await promises.readFile(this.#file, 'latin1').catch(() => '')
    if (holder === '' || holder === this.#id || (await this.#isThere(holder))) return
    // Another member may have removed the stale file too, and a third may have taken the token since. So the
    // file is renamed, checked, and put back if it is not stale.
    const aside = path.join(this.#directory.path, `${FILE}-${this.#id}`)
    await promises.rename(this.#file, aside)
    if ((await promises.readFile(aside, 'latin1')) !== holder)
      await promises.link(aside, this.#file).catch(() => {})
    await promises.rm(aside, { force: true })
  }

  /** @param {string} id @returns {Promise<boolean>} whether a process listens on the member's socket */
  #isThere(id) {
    return new Promise((resolve) => {
      const socket = net.connect(this.#directory.socketOf(id))
      const timer = this.#clock.after(CONNECT_MS, () => socket.destroy())
      // A member that does not answer may be stopped or blocked. It has not ended.
      let isThere = true
      socket.on('connect', () => socket.destroy())
      socket.on('error', () => {
        isThere = false
      })
      socket.on('close', () => {
        this.#clock.cancel(timer)
        resolve(isThere)
      })
    })
  }

  giveBack() {
    if (this.#hasIt) rmSync(this.#file, { force: true })
    this.#hasIt = false
  }
}

exports.Token = Token
