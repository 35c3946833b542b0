'use strict'
// A real cluster (or a process with threads) for the time of one test, with temporary files of its own.

const { fork } = require('node:child_process')
const { once } = require('node:events')
const { existsSync, mkdtempSync, readdirSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { setTimeout } = require('node:timers/promises')
const { parse, valuesOf } = require('./metrics-text')

/**
 * Those of each test: they have to be gone before their files go, and hooks run in the order they were given.
 */
const fleetsOf = new WeakMap()

class FleetUnderTest {
  #child
  #closed
  #hasMember
  #waiting = new Map()
  #nextId = 1
  #watchers = new Set()
  directory

  /** @param {import('node:test').TestContext} t */
  static async start(t, options = {}, { directory = temporaryDirectory(t), env = {} } = {}) {
    const fleet = new FleetUnderTest()
    fleet.directory = directory
    const child = fork(path.join(__dirname, 'fleet-process.js'), [JSON.stringify(options)], {
      env: { ...process.env, TMPDIR: directory, ...env },
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    })
    child.stderr.pipe(process.stderr)
    fleet.#child = child
    fleet.#closed = once(child, 'close')
    fleet.#hasMember = options.member === true
    child.on('message', (message) => fleet.#heed(message))
    fleetsOf.set(t, [...(fleetsOf.get(t) ?? []), fleet])
    t.after(() => fleet.stop())
    await fleet.#next('started')
    return fleet
  }

  get pid() {
    return this.#child.pid
  }

  /** Not before its workers are gone, which write once more when their primary is: they have its stderr. */
  async stop() {
    this.#child.kill('SIGKILL')
    await this.#closed
  }

  /** @returns {Promise<any[]>} their names, and process ids */
  async fork(count = 1) {
    const forked = []
    for (let i = 0; i < count; i++) {
      const next = this.#next('forked')
      this.#child.send({ fork: true })
      forked.push((await next).forked)
    }
    if (this.#hasMember) await this.ask(undefined, 'snapshot')
    return forked
  }

  /** Asks a worker, or without a name the primary. */
  ask(name, what, how = {}) {
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#child.send({ id, to: name, do: what, ...how })
    })
  }

  async exited(name, cause) {
    const gone = this.#next('exited', (message) => message.exited === name)
    cause()
    await gone
  }

  terminate(name) {
    return this.exited(name, () => this.#child.send({ terminate: name }))
  }

  /** What is shown by that worker, by family. */
  async families(name, how) {
    return parse(await this.ask(name, 'metrics', how))
  }

  /** Only what must not fall: counters, and the parts of histograms and summaries. */
  async totals(name, how) {
    const families = [...(await this.families(name, how)).values()]
    return valuesOf(families.filter(({ type }) => type !== 'gauge'))
  }

  /** The directories of the fleets in here. */
  directories() {
    return readdirSync(this.directory)
      .filter((name) => name.startsWith('spillway-'))
      .map((name) => path.join(this.directory, name))
  }

  #next(kind, matches = (message) => message[kind] !== undefined) {
    return new Promise((resolve) => {
      const watcher = (message) => {
        if (!matches(message)) return
        this.#watchers.delete(watcher)
        resolve(message)
      }
      this.#watchers.add(watcher)
    })
  }

  #heed(message) {
    const waiting = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if (message.error !== undefined && waiting === undefined) throw new Error(message.error)
    if (message.error !== undefined) waiting.reject(new Error(message.error))
    else waiting?.resolve(message.answer)
    for (const watcher of [...this.#watchers]) watcher(message)
  }
}

const MAX_TRIES = 100

/** Short, because a socket's path must be. */
function temporaryDirectory(t) {
  const directory = mkdtempSync(path.join(tmpdir(), 'sw-'))
  t.after(async () => {
    await Promise.all((fleetsOf.get(t) ?? []).map((fleet) => fleet.stop()))
    // A member of this process may still be writing a report. Retries of rmSync() do not look for what has
    // come meanwhile.
    for (let tries = 1; existsSync(directory); tries++) {
      try {
        rmSync(directory, { recursive: true, force: true })
      } catch (error) {
        if (tries === MAX_TRIES) throw error
        await setTimeout(50)
      }
    }
  })
  return directory
}

module.exports = { FleetUnderTest, temporaryDirectory }
