'use strict'
// The private directory of a fleet: a report and a socket of each member, and what the departed have left. Made with mode
// 0700, and used only if it is a directory of ours that nobody else may enter: whoever made it before us in a shared
// temporary directory would read what we write. Every file is written beside and renamed, so that none is ever half read.

const fs = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { promises } = fs
const { isRunning, machine } = require('./member-identity')
const { Memory, joined } = require('./report-buffers')
const { readReport } = require('./report-file')

/** @typedef {{ ids: string[], doors: string[], departed: number | undefined, generations: number[] }} Listing */

const REPORT = /^([a-z0-9]+)\.report$/
const DOOR = /^([a-z0-9]+)\.s$/
/** As its generation is written when the name is made of it again: another spelling would be a file that is not there. */
const DEPARTED = /^departed-(0|[1-9]\d*)$/
/** The least that a socket's path may have, which is macOS's: 104 bytes with the end. */
const MAX_PATH = 103
const SOCKET_NAME = 10
const isWindows = process.platform === 'win32'

/** Not for good: who needs a port below 1024 may begin as root and go on as another. */
const currentUser = () => process.geteuid?.() ?? 0

class Directory {
  path
  #memory = new Memory()

  constructor(directory) {
    this.path = directory
  }

  /** Whether a member is still to be found: its door may have been cleaned away. */
  async holds(id) {
    try {
      await promises.lstat(isWindows ? this.path : this.socketOf(id))
      return true
    } catch (/** @type {any} */ error) {
      return error.code !== 'ENOENT'
    }
  }

  socketOf(id) {
    if (isWindows) return `\\\\.\\pipe\\${path.basename(this.path)}-${id}`
    return path.join(this.path, `${id}.s`)
  }

  /** @returns {Promise<Listing>} */
  async list() {
    const names = await promises.readdir(this.path)
    const found = (pattern) =>
      names.map((name) => pattern.exec(name)?.[1]).filter((part) => part !== undefined)
    const generations = found(DEPARTED)
      .map(Number)
      .filter(Number.isSafeInteger)
      .sort((a, b) => a - b)
    return { ids: found(REPORT), doors: found(DOOR), departed: generations.at(-1), generations }
  }

  /** @param {import('./report-buffers').Loan} loan what it is read into */
  read(id, loan) {
    return readReport(this.#reportOf(id), loan)
  }

  // As one Buffer: given as pieces, each of some 250 would be a write of its own.
  async write(id, pieces) {
    const beside = path.join(this.path, `${id}.new`)
    const loan = this.#memory.lend()
    await promises.writeFile(beside, joined(pieces, loan), { mode: 0o600 })
    loan.giveBack()
    await promises.rename(beside, this.#reportOf(id))
  }

  /** At the end, where nothing waits. A write that is under way is older, and finds nothing to rename. */
  writeNow(id, pieces) {
    fs.rmSync(path.join(this.path, `${id}.new`), { force: true })
    const beside = path.join(this.path, `${id}.last`)
    fs.writeFileSync(beside, Buffer.concat(pieces), { mode: 0o600 })
    fs.renameSync(beside, this.#reportOf(id))
  }

  /** @param {import('./report-buffers').Loan} loan */
  readDeparted(generation, loan) {
    return readReport(this.#departedOf(generation), loan)
  }

  /** @returns {Promise<boolean>} whether it was the first to write this generation: a link is made once or not at all */
  async writeDeparted(generation, id, pieces) {
    const beside = path.join(this.path, `${id}.fold`)
    await promises.writeFile(beside, Buffer.concat(pieces), { mode: 0o600 })
    try {
      await promises.link(beside, this.#departedOf(generation))
    } catch (/** @type {any} */ error) {
      if (error.code === 'EEXIST') return false
      throw error
    } finally {
      await promises.rm(beside, { force: true })
    }
    // A member that slept while others folded on has made a generation that nobody looks at.
    return (await this.list()).departed === generation
  }

  async removeDeparted(generation) {
    await promises.rm(this.#departedOf(generation), { force: true })
  }

  async remove(id) {
    await promises.rm(this.#reportOf(id), { force: true })
    for (const left of ['s', 'new', 'last', 'fold']) {
      await promises.rm(path.join(this.path, `${id}.${left}`), { force: true })
    }
  }

  /** Whoever cleans temporary directories goes by the age of a file. */
  async touch(generation, wallMs) {
    await promises.utimes(this.#departedOf(generation), wallMs / 1000, wallMs / 1000)
  }

  #reportOf(id) {
    return path.join(this.path, `${id}.report`)
  }

  #departedOf(generation) {
    return path.join(this.path, `departed-${generation}`)
  }
}

/**
 * The same place for every member: the first that can be written to and whose sockets have short enough a path.
 * @param {string} key
 * @param {string} [base] the only place to try
 */
async function openDirectory(key, base) {
  const bases = base === undefined ? [tmpdir(), '/dev/shm', '/tmp'] : [base]
  const user = currentUser()
  let why
  for (const each of bases) {
    try {
      return await openIn(path.resolve(each), key, user)
    } catch (/** @type {any} */ error) {
      why ??= error
    }
  }
  throw why
}

async function openIn(base, key, user) {
  const directory = path.join(base, `spillway-${user}-${key}`)
  if (!isWindows && Buffer.byteLength(directory) + 1 + SOCKET_NAME > MAX_PATH) {
    throw new Error(`'${directory}' is too long for a socket in it: give a shorter \`fleet.directory\``)
  }
  try {
    await promises.mkdir(directory, { mode: 0o700 })
  } catch (/** @type {any} */ error) {
    if (error.code !== 'EEXIST') throw error
  }
  if (!(await isOursAlone(directory, user))) {
    throw new Error(
      `'${directory}' is not a directory of ours alone: remove it, or give a \`fleet.directory\``
    )
  }
  await removeStale(base, user)
  return new Directory(directory)
}

async function isOursAlone(directory, user) {
  const stat = await promises.lstat(directory)
  return stat.isDirectory() && (isWindows || (stat.uid === user && (stat.mode & 0o077) === 0))
}

/**
 * Those of fleets whose primary runs no more. A fleet that was named has none to go by, and cleans up itself. One that others
 * may enter is left alone: while it is removed, they might put a link to a directory of ours where it had one of theirs.
 */
async function removeStale(base, user) {
  const prefix = `spillway-${user}-${machine()}-`
  for (const name of await promises.readdir(base)) {
    if (!name.startsWith(prefix) || isRunning(name.slice(prefix.length))) continue
    const stale = path.join(base, name)
    try {
      if (await isOursAlone(stale, user)) await promises.rm(stale, { recursive: true, force: true })
    } catch {
      // Another is at it too.
    }
  }
}

module.exports = { currentUser, openDirectory }
