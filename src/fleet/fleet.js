'use strict'
// All workers of a fleet as one: whoever is scraped asks the others, adds up, and answers for all. The transport was chosen
// by what it must survive. Messages through a cluster's primary need code of ours in it, which PM2's has not, and what
// a worker has shown is lost with it when it is killed. So each member writes its report to a private directory whenever it
// is asked, over a socket beside it: but on a full disk a scrape shows nothing that is not written, and totals never fall, whoever
// dies. In time it makes no difference: 1.4 MB from each of three workers took 56 ms by IPC and 47 by sockets, of which
// each loop was blocked for 8, the primary's too; as JSON, which is what IPC speaks by default, 375 and 48.

const { randomBytes } = require('node:crypto')
const { foldDeparted } = require('./retired-members')
const { currentUser, openDirectory } = require('./directory')
const { openDoor } = require('./member-socket')
const { takeFleetSnapshot } = require('./fleet-snapshot')
const { metricsOf } = require('./registry-report')
const { isAmongKin, kinOf, takeNumber } = require('./member-identity')
const { greetMainThread, watchForKin } = require('./fleet-watch')
const { Reporter } = require('./reporter')
const { Memory, joined } = require('./report-buffers')
const { ReadableSum, isRecent } = require('./readable-sum')
const { callRoll, rollOfOne } = require('./poll-members')
const { named, stateFamilies, statesOf } = require('./worker-states')
const { UnreadableReports } = require('./unreadable-reports')

/** A worker that restarts and dies at once must not fill the disk while nobody scrapes. */
const MANY = 32
/** Members that nobody scrapes, as where one has the admin server, are missing for so long at the most. */
const LOOK_MS = 60_000

const open = new Set()
const onExit = () => {
  for (const fleet of open) fleet.close()
}

class Fleet {
  #parts
  #options
  #reporter
  #exporter
  #number = takeNumber()
  #id = randomBytes(4).toString('hex')
  #kin
  #directory
  /** Who it was when it joined: the directory is that user's alone. */
  #user
  #lookMs = Number.POSITIVE_INFINITY
  #closeDoor = () => {}
  #stopWatching = () => {}
  /** Settles when this is a member, or never can be. */
  #joined
  #spareSum
  #memory = new Memory()
  #unreadable
  #isFolding = false
  #isClosed = false

  /**
   * @param {any} parts
   * @param {import('../../index.js').SpillwayOptions['fleet']} options
   * @param {(spare?: any) => any} takeInstant
   * @param {{ sources(isOfProcess: boolean): any, adopted(families: any[]): any[] }} exporter what this process has to show
   */
  constructor(parts, options, takeInstant, exporter) {
    this.#parts = parts
    this.#options = options
    this.#exporter = exporter
    this.#reporter = new Reporter(parts, takeInstant, exporter)
    this.#unreadable = new UnreadableReports(parts.warn)
    this.#kin = kinOf(options)
    if (this.#kin === undefined) return
    if (isAmongKin(options)) this.#join()
    else this.#stopWatching = watchForKin(() => this.#join())
  }

  /** Whether there is more than this thread to answer for. */
  get isMember() {
    return this.#joined !== undefined
  }

  #join() {
    if (this.isMember || this.#isClosed) return
    // Again: who was alone may be a primary now, and is called so.
    this.#kin = kinOf(this.#options)
    if (open.size === 0) process.on('exit', onExit)
    open.add(this)
    this.#joined = this.#enter()
  }

  async #enter() {
    const user = currentUser()
    this.#user = user
    try {
      await this.#open()
    } catch (/** @type {any} */ error) {
      if (currentUser() !== user) return this.#enter()
      const why = `this worker shows its own numbers only: ${error.message}`
      this.#parts.faults.report('fleet', new Error(why, { cause: error }))
    }
    this.#lookMs = this.#parts.clock.now() + LOOK_MS
  }

  // Hot path: one comparison a loop turn.
  onTurn(nowMs) {
    if (nowMs < this.#lookMs) return
    this.#lookMs = nowMs + LOOK_MS
    this.#stay()
  }

  /** Whoever cleans up may have taken the directory or its door, and who has changed its user may not enter it: then it joins anew. */
  async #stay() {
    const joined = this.#joined
    await joined
    if (!(await this.#isIn()) && joined === this.#joined) this.#joined = this.#enter()
    await this.#joined
  }

  async #isIn() {
    if (this.#isClosed || !this.isMember) return true
    return this.#user === currentUser() && ((await this.#directory?.holds(this.#id)) ?? true)
  }

  async #open() {
    this.#closeDoor()
    this.#directory = undefined
    const { key, isExact } = this.#kin
    const directory = await openDirectory(`${key}-${this.#number.number}`, this.#options?.directory)
    const closeDoor = await openDoor(directory.socketOf(this.#id), (withRoutes) => this.#answer(withRoutes))
    if (this.#isClosed) return closeDoor()
    this.#closeDoor = closeDoor
    this.#directory = directory
    await this.#answer(true)
    await this.#tidy(directory, isExact)
    greetMainThread()
  }

  /** Whether a daemon's app was deleted, or restarts, is told by this alone: that nobody has been alive for a minute. */
  async #tidy(directory, isExact) {
    const { ids, departed } = await directory.list()
    if (isExact ? ids.length <= MANY : ids.length === 1 && departed === undefined) return
    const roll = await this.#roll(directory, false, this.#memory.lend())
    const wallMs = this.#parts.clock.wallMs()
    const others = roll.members.slice(1)
    const hasEnded = others.every(({ state, head }) => state === 'departed' && !isRecent(head, wallMs))
    if (isExact || !hasEnded) return this.#fold(directory, roll)
    for (const { id } of others) await directory.remove(id)
    for (const generation of roll.departed.generations) await directory.removeDeparted(generation)
  }

  /** @returns {Promise<Buffer[] | undefined>} what could not be written */
  async #answer(withRoutes) {
    const { pieces, error } = await this.#report(withRoutes)
    return error === undefined ? undefined : pieces
  }

  /** @returns {Promise<{ pieces: Buffer[], error?: any }>} with an error where it could not be written */
  async #report(withRoutes) {
    const made = await this.#reporter.make(this.#who(), withRoutes, async (pieces) => {
      if (this.#directory !== undefined && !this.#isClosed) await this.#directory.write(this.#id, pieces)
    })
    if (made.error !== undefined) this.#parts.faults.report('fleet', made.error)
    return made
  }

  #who() {
    return { id: this.#id, worker: this.#kin?.worker ?? 'main' }
  }

  async #roll(directory, withRoutes, loan) {
    const ownReport = this.#report(withRoutes).then(({ pieces }) => joined(pieces, loan))
    return callRoll(directory, { clock: this.#parts.clock, ownId: this.#id, ownReport, withRoutes, loan })
  }

  async #fold(directory, roll) {
    if (this.#isFolding || this.#isClosed) return
    this.#isFolding = true
    try {
      await foldDeparted(directory, this.#parts.clock, roll, this.#id)
    } catch (error) {
      this.#parts.faults.report('fleet', error)
    }
    this.#isFolding = false
  }

  /**
   * All there is to show, until it is released.
   * @returns {Promise<{ families: any[], metrics: any[], standard: any[], release: () => void }>}
   */
  async gather() {
    const { sum, states } = await this.#gather({ withRoutes: false })
    const families = sum.families
    return {
      families: [
        ...families.filter(({ isForeign }) => !isForeign),
        ...this.#exporter.adopted(stateFamilies(states)),
      ],
      metrics: metricsOf(families),
      standard: [],
      release: () => {
        this.#spareSum = sum.isStale() ? undefined : sum
      },
    }
  }

  async snapshot() {
    const { sum, members, states } = await this.#gather({ withRoutes: true })
    return takeFleetSnapshot(this.#parts.clock, sum, members, states)
  }

  async #gather({ withRoutes }) {
    await this.#stay()
    const { clock, faults } = this.#parts
    const directory = this.#directory
    const loan = this.#memory.lend()
    const isAlone = directory === undefined
    const roll = isAlone
      ? rollOfOne(await this.#report(withRoutes))
      : await this.#roll(directory, withRoutes, loan)
    const spare = this.#spareSum
    this.#spareSum = undefined
    const readable = new ReadableSum({ clock, withRoutes })
    const { sum, members, departed } = await readable.of(named(roll.members), roll.departed, spare)
    this.#unreadable.tell(directory?.path, members, departed)
    if (sum.misunderstood > 0) faults.report('fleet', new Error('workers differ in what a metric is'))
    const folded = isAlone ? undefined : this.#fold(directory, { members, departed })
    // A snapshot goes on reading the routes; of a scrape the sum has all it needs.
    if (!withRoutes) folded?.then(loan.giveBack)
    return { sum, members, states: statesOf(members, departed) }
  }

  close() {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#stopWatching()
    const { faults } = this.#parts
    const directory = this.#directory
    faults.guard('fleet', () => directory?.writeNow(this.#id, this.#reporter.makeNow(this.#who())))
    this.#closeDoor()
    open.delete(this)
    if (open.size === 0) process.off('exit', onExit)
    this.#number.giveBack()
  }
}

module.exports = { Fleet }
