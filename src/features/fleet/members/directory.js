'use strict'
// The private directory of a fleet. It holds a report and a socket of each member, and the report of the
// retired members. It has mode 0700 and must belong to the current user: in a shared temporary directory,
// another user may have made it first. A file is written under another name and then renamed. So no reader
// sees half of a file.

const fs = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { promises } = fs
const { isRunning, machine } = require('./member-identity')
const { ReportBuffers, joinPieces, readReport } = require('../reports/report-file')

/** @import { Loan } from '../reports/report-file' */

/**
 * @typedef {object} Listing
 * @property {string[]} ids of the members that have a report
 * @property {string[]} socketIds of the members that have a socket
 * @property {number | undefined} generation the newest generation of the retired members' report
 * @property {number[]} generations all generations, ascending
 */

const REPORT = /^([a-z0-9]+)\.report$/
const SOCKET = /^([a-z0-9]+)\.s$/
/**
 * Matches only the canonical spelling of a generation, because the file's name is rebuilt from the number.
 */
const RETIRED = /^departed-(0|[1-9]\d*)$/
/** The longest path of a socket on any platform: macOS allows 104 bytes with the terminating zero. */
const MAX_PATH = 103
const SOCKET_NAME = 10
const isWindows = process.platform === 'win32'

/** A process that needs a port below 1024 may start as root and change its user later. */
const currentUser = () => process.geteuid?.() ?? 0

class Directory {
  path
  #buffers = new ReportBuffers()

  /** @param {string} directory */
  constructor(directory) {
    this.path = directory
  }

  /**
   * Whether the member's socket still exists: cleaners of temporary directories may have removed it.
   *
   * @param {string} id
   */
  async hasMember(id) {
    try {
      await promises.lstat(isWindows ? this.path : this.socketOf(id))
      return true
    } catch (error) {
      return /** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT'
    }
  }

  /** @param {string} id */
  socketOf(id) {
    if (isWindows) return `\\\\.\\pipe\\${path.basename(this.path)}-${id}`
    return path.join(this.path, `${id}.s`)
  }

  /** @returns {Promise<Listing>} */
  async list() {
    const names = await promises.readdir(this.path)
    /** @param {RegExp} pattern */
    const found = (pattern) =>
      names.map((name) => pattern.exec(name)?.[1]).filter((part) => part !== undefined)
    const generations = found(RETIRED)
      .map(Number)
      .filter(Number.isSafeInteger)
      .sort((a, b) => a - b)
    return { ids: found(REPORT), socketIds: found(SOCKET), generation: generations.at(-1), generations }
  }

  /** @param {string} id @param {Loan} loan provides the buffer */
  read(id, loan) {
    return readReport(this.#reportOf(id), loan)
  }

  // Writes one buffer, because writeFile would make a separate write for each of the 250 pieces.
  /** @param {string} id @param {Buffer[]} pieces */
  async write(id, pieces) {
    const temporary = path.join(this.path, `${id}.new`)
    const loan = this.#buffers.lend()
    await promises.writeFile(temporary, joinPieces(pieces, loan), { mode: 0o600 })
    loan.giveBack()
    await promises.rename(temporary, this.#reportOf(id))
  }

  /**
   * Writes the last report synchronously. An earlier write in progress fails, because its temporary file is
   * removed.
   *
   * @param {string} id @param {Buffer[]} pieces
   */
  writeNow(id, pieces) {
    fs.rmSync(path.join(this.path, `${id}.new`), { force: true })
    const temporary = path.join(this.path, `${id}.last`)
    fs.writeFileSync(temporary, Buffer.concat(pieces), { mode: 0o600 })
    fs.renameSync(temporary, this.#reportOf(id))
  }

  /** @param {number} generation @param {Loan} loan provides the buffer */
  readRetired(generation, loan) {
    return readReport(this.#retiredOf(generation), loan)
  }

  /**
   * @param {number} generation @param {string} id @param {Buffer[]} pieces
   * @returns {Promise<boolean>} whether this member was the first to write the generation: making a hard
   *   link fails if the link exists
   */
  async writeRetired(generation, id, pieces) {
    const temporary = path.join(this.path, `${id}.fold`)
    await promises.writeFile(temporary, Buffer.concat(pieces), { mode: 0o600 })
    try {
      await promises.link(temporary, this.#retiredOf(generation))
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false
      throw error
    } finally {
      await promises.rm(temporary, { force: true })
    }
    // If this member was suspended meanwhile, the generation may not be the newest any more. Members read
    // only the newest generation.
    return (await this.list()).generation === generation
  }

  /** @param {number} generation */
  async removeRetired(generation) {
    await promises.rm(this.#retiredOf(generation), { force: true })
  }

  /** @param {string} id */
  async remove(id) {
    await promises.rm(this.#reportOf(id), { force: true })
    for (const extension of ['s', 'new', 'last', 'fold']) {
      await promises.rm(path.join(this.path, `${id}.${extension}`), { force: true })
    }
  }

  /**
   * Renews the time of the file, because cleaners of temporary directories remove old files.
   *
   * @param {number} generation
   * @param {number} wallMs
   */
  async touch(generation, wallMs) {
    await promises.utimes(this.#retiredOf(generation), wallMs / 1000, wallMs / 1000)
  }

  /** @param {string} id */
  #reportOf(id) {
    return path.join(this.path, `${id}.report`)
  }

  /** @param {number} generation */
  #retiredOf(generation) {
    return path.join(this.path, `departed-${generation}`)
  }
}

/**
 * Opens the directory in the first base that is writable and short enough for the paths of sockets. Every
 * member finds the same base.
 *
 * @param {string} key
 * @param {string} [base] the only base to try
 */
async function openDirectory(key, base) {
  const bases = base === undefined ? [tmpdir(), '/dev/shm', '/tmp'] : [base]
  const user = currentUser()
  let firstError
  for (const each of bases) {
    try {
      return await openIn(path.resolve(each), key, user)
    } catch (error) {
      firstError ??= error
    }
  }
  throw firstError
}

/** @param {string} base @param {string} key @param {number} user */
async function openIn(base, key, user) {
  const directory = path.join(base, `spillway-${user}-${key}`)
  if (!isWindows && Buffer.byteLength(directory) + 1 + SOCKET_NAME > MAX_PATH) {
    throw new Error(
      `'${directory}' is too long a path for a socket. Set \`fleet.directory\` to a shorter path`
    )
  }
  try {
    await promises.mkdir(directory, { mode: 0o700 })
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error
  }
  if (!(await isPrivate(directory, user))) {
    throw new Error(
      `'${directory}' is not a private directory of this user. Remove it, or set \`fleet.directory\``
    )
  }
  await removeStale(base, user)
  return new Directory(directory)
}

/** @param {string} directory @param {number} user */
async function isPrivate(directory, user) {
  const stat = await promises.lstat(directory)
  return stat.isDirectory() && (isWindows || (stat.uid === user && (stat.mode & 0o077) === 0))
}

/**
 * Removes the directories of fleets whose primary has exited. A fleet with a name has no primary, and cleans
 * up its own directory. A directory that other users may write to is not removed. During the removal, they
 * could replace a subdirectory by a link to a directory of this user.
 *
 * @param {string} base @param {number} user
 */
async function removeStale(base, user) {
  const prefix = `spillway-${user}-${machine()}-`
  for (const name of await promises.readdir(base)) {
    if (!name.startsWith(prefix) || isRunning(name.slice(prefix.length))) continue
    const stale = path.join(base, name)
    try {
      if (await isPrivate(stale, user)) await promises.rm(stale, { recursive: true, force: true })
    } catch {
      // Another process removes it at the same time.
    }
  }
}

exports.Directory = Directory
exports.currentUser = currentUser
exports.openDirectory = openDirectory
