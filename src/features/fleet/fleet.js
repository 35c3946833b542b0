'use strict'
// Lets all workers of a fleet answer as one. The member that is scraped requests the reports of the others,
// adds them up, and answers for all. A member that is asked for its report over its socket writes the report
// to the fleet's private directory. A scrape shows only counts that are in the directory, so totals do not
// fall if a worker is killed. A full disk is the exception: the member then sends its report over the socket.
// docs/decisions/0030-reports-in-files.md says why reports are not sent through the primary.

const { randomBytes } = require('node:crypto')
const { removeEarlierFleet, retireMembers } = require('./members/retired-members')
const { currentUser, openDirectory } = require('./members/directory')
const { MemberPages, connectToMember, requestPage } = require('./members/member-pages')
const { openMemberSocket } = require('./members/member-socket')
const { takeFleetSnapshot } = require('./fleet-snapshot')
const { metricsOf } = require('./reports/registry-report')
const { identityOf } = require('./members/member-identity')
const { ownMetrics } = require('./reports/metric-names')
const { announceThread } = require('./fleet-watch')
const { Reporter } = require('./reports/reporter')
const { ReportBuffers, joinPieces } = require('./reports/report-file')
const { ReadableSum, UnreadableReports } = require('./reports/readable-sum')
const { pollMembers, pollOfOne } = require('./members/poll-members')
const { Token } = require('./token')
const { stateFamilies, statesOf, withWorkerNames } = require('./worker-states')

/**
 * @import { Handler } from '../../../index.js'
 * @import { Ask, FoundWorker } from '../../core/features'
 * @import { TakeCapture } from '../../core/metrics/capture'
 * @import { Family } from '../../core/metrics/family'
 * @import { Prometheus, Sources } from '../../core/metrics/scrape/prometheus'
 * @import { Instance } from '../../instance'
 * @import { Directory } from './members/directory'
 * @import { FleetOption, Identity } from './members/member-identity'
 * @import { Poll } from './members/poll-members'
 * @import { Loan } from './reports/report-file'
 * @import { ReportSum } from './reports/report-sum'
 * @import { Made, Self } from './reports/reporter'
 */

/**
 * @typedef {Pick<Instance,
 *   'clock' | 'families' | 'internalErrors' | 'recorder' | 'startedAtWallMs' | 'warn'>} Deps
 */

/**
 * If there are more reports than this, a member that joins adds the reports of ended members up into one.
 * Otherwise workers that crash at their start would fill the disk.
 */
const MANY_REPORTS = 32
/**
 * How often a member checks that its files are still in the directory. A member also checks at each scrape it
 * answers.
 */
const CHECK_EVERY_MS = 60_000

/** @type {Set<Fleet>} */
const open = new Set()
const onExit = () => {
  for (const fleet of open) fleet.close()
}

class Fleet {
  /** The pages of this member for the others. */
  #pages
  #deps
  #options
  #reporter
  #exporter
  #own
  #number
  #id = randomBytes(4).toString('hex')
  #identity
  /** @type {Directory | undefined} */
  #directory
  /**
   * The user of the process when it joined. Only this user may enter the directory.
   *
   * @type {number | undefined}
   */
  #user
  #nextCheckMs = Number.POSITIVE_INFINITY
  #closeSocket = () => {}
  /** Settles when the directory is open or cannot be opened. @type {Promise<void> | undefined} */
  #joined
  /** @type {ReportSum | undefined} */
  #spareSum
  #buffers = new ReportBuffers()
  #unreadable
  #isRetiring = false
  /** @type {Token | undefined} */
  #token
  #isClosed = false

  /**
   * @param {Deps} deps
   * @param {FleetOption} options
   * @param {TakeCapture} capture
   * @param {Prometheus} exporter the metrics of this process
   * @param {{ number: number, pagesNow: () => Map<string, Handler> }} member
   */
  constructor(deps, options, capture, exporter, { number, pagesNow }) {
    this.#deps = deps
    this.#options = options
    this.#number = number
    this.#exporter = exporter
    this.#own = ownMetrics(exporter, deps.families())
    this.#reporter = new Reporter(deps, capture, exporter)
    this.#pages = new MemberPages(deps.internalErrors, pagesNow)
    this.#unreadable = new UnreadableReports(deps.warn)
    this.#identity = identityOf(options)
  }

  /** Whether the instance answers for a fleet, and not for its own thread alone. */
  get isMember() {
    return this.#joined !== undefined
  }

  join() {
    if (this.isMember || this.#isClosed) return
    // Computed again: if the process has become a primary meanwhile, its identity has changed.
    this.#identity = identityOf(this.#options)
    if (open.size === 0) process.on('exit', onExit)
    open.add(this)
    this.#joined = this.#enter()
  }

  /** @returns {Promise<void>} */
  async #enter() {
    const user = currentUser()
    this.#user = user
    try {
      await this.#open()
    } catch (error) {
      if (currentUser() !== user) return this.#enter()
      const why = `this worker shows its own numbers only: ${/** @type {Error} */ (error).message}`
      this.#deps.internalErrors.report('fleet', new Error(why, { cause: error }))
    }
    this.#nextCheckMs = this.#deps.clock.now() + CHECK_EVERY_MS
  }

  // Hot path: one comparison every 10 ms.
  /** @param {number} nowMs */
  checkMembership(nowMs) {
    if (nowMs < this.#nextCheckMs) return
    this.#nextCheckMs = nowMs + CHECK_EVERY_MS
    this.#rejoinIfLost()
  }

  /** Joins again if a cleaner removed the directory or the socket, or the process has changed its user. */
  async #rejoinIfLost() {
    const joined = this.#joined
    await joined
    if (!(await this.#isStillMember()) && joined === this.#joined) this.#joined = this.#enter()
    await this.#joined
  }

  async #isStillMember() {
    if (this.#isClosed || !this.isMember) return true
    return this.#user === currentUser() && ((await this.#directory?.hasMember(this.#id)) ?? true)
  }

  async #open() {
    this.#closeSocket()
    this.#directory = undefined
    const { key, isExact } = /** @type {Identity} */ (this.#identity)
    const directory = await openDirectory(`${key}-${this.#number}`, this.#options?.directory)
    const closeSocket = await openMemberSocket(directory.socketOf(this.#id), {
      report: this.#onRequest,
      servePages: (socket) => this.#pages.serve(socket),
    })
    if (this.#isClosed) return closeSocket()
    this.#closeSocket = closeSocket
    this.#directory = directory
    await this.#report(true)
    await this.#cleanUp(directory, isExact)
    announceThread()
  }

  /**
   * Retires ended members (retired-members.js) if there are too many reports. A key that is not exact may
   * have belonged to another fleet, such as a PM2 app that was deleted. The reports of such a fleet are
   * removed and not added up.
   *
   * @param {Directory} directory
   * @param {boolean} isExact
   */
  async #cleanUp(directory, isExact) {
    const { ids, generation } = await directory.list()
    if (isExact ? ids.length <= MANY_REPORTS : ids.length === 1 && generation === undefined) return
    const poll = await this.#poll(directory, false, this.#buffers.lend())
    if (!isExact && (await removeEarlierFleet(directory, poll))) return
    return this.#retire(directory, poll)
  }

  /**
   * @param {boolean} withRoutes
   * @returns {Promise<Buffer[] | undefined>} the report, only if it could not be written to the directory
   */
  #onRequest = async (withRoutes) => {
    const { pieces, error } = await this.#report(withRoutes)
    return error === undefined ? undefined : pieces
  }

  /** @param {boolean} withRoutes @returns {Promise<Made>} with an error if the report could not be written */
  async #report(withRoutes) {
    const made = await this.#reporter.make(this.#self(), withRoutes, async (pieces) => {
      if (this.#directory !== undefined && !this.#isClosed) await this.#directory.write(this.#id, pieces)
    })
    if (made.error !== undefined) this.#deps.internalErrors.report('fleet', made.error)
    return made
  }

  /** @returns {Self} */
  #self() {
    return { id: this.#id, worker: this.#identity?.worker ?? 'main' }
  }

  /** @param {Directory} directory @param {boolean} withRoutes @param {Loan} loan */
  async #poll(directory, withRoutes, loan) {
    const ownReport = this.#report(withRoutes).then(({ pieces }) => joinPieces(pieces, loan))
    return pollMembers(directory, { clock: this.#deps.clock, ownId: this.#id, ownReport, withRoutes, loan })
  }

  /** @param {Directory} directory @param {Poll} poll */
  async #retire(directory, poll) {
    if (this.#isRetiring || this.#isClosed) return
    this.#isRetiring = true
    try {
      await retireMembers(directory, this.#deps.clock, poll, this.#id, this.#own)
    } catch (error) {
      this.#deps.internalErrors.report('fleet', error)
    }
    this.#isRetiring = false
  }

  /**
   * The metrics of the whole fleet. They are valid until `release()`, which lets the next scrape reuse their
   * memory.
   *
   * @returns {Promise<Sources & { release: () => void }>}
   */
  async gather() {
    const { sum, states } = await this.#gather({ withRoutes: false })
    const families = sum.families
    return {
      families: [
        .../** @type {Family[]} */ (families.filter(({ isForeign }) => !isForeign)),
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
    return takeFleetSnapshot(this.#deps, sum, members, states)
  }

  /**
   * @returns {Promise<boolean>} whether this member may now do something that only one member may do at a
   *   time
   */
  async takeToken() {
    const directory = this.#directory
    if (directory === undefined) return false
    const { clock, internalErrors } = this.#deps
    this.#token ??= new Token({ directory, id: this.#id, clock })
    return this.#token.take().catch((error) => {
      internalErrors.report('fleet', error)
      return false
    })
  }

  giveBackToken() {
    this.#token?.giveBack()
    // If the directory was lost, the next token is taken in another directory.
    this.#token = undefined
  }

  /**
   * Finds a member by the name that a snapshot shows.
   *
   * @param {string} name
   * @returns {Promise<FoundWorker>}
   */
  async find(name) {
    const directory = this.#directory
    if (directory === undefined) {
      const { worker } = this.#self()
      return { isOwn: worker === name, names: [worker] }
    }
    const { clock } = this.#deps
    const loan = this.#buffers.lend()
    const { members } = await this.#poll(directory, false, loan)
    loan.giveBack()
    const present = withWorkerNames(members).filter(({ worker }) => worker !== '')
    const found = present.find(({ worker }) => worker === name)
    const names = present
      .map(({ worker }) => worker)
      .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    if (found === undefined || found.id === this.#id) return { isOwn: found !== undefined, names }
    /** @type {Ask} */
    const ask = async (asked) =>
      requestPage(await connectToMember(directory.socketOf(found.id), clock), asked)
    return { isOwn: false, names, ask }
  }

  /** @param {{ withRoutes: boolean }} how */
  async #gather({ withRoutes }) {
    await this.#rejoinIfLost()
    const { clock, internalErrors } = this.#deps
    const directory = this.#directory
    const loan = this.#buffers.lend()
    const isAlone = directory === undefined
    const poll = isAlone
      ? pollOfOne(await this.#report(withRoutes))
      : await this.#poll(directory, withRoutes, loan)
    const spare = this.#spareSum
    this.#spareSum = undefined
    const readable = new ReadableSum({ clock, withRoutes, own: this.#own })
    const { sum, members, retired } = await readable.of(withWorkerNames(poll.members), poll.retired, spare)
    this.#unreadable.logNew(directory?.path, members, retired)
    if (sum.misunderstood > 0)
      internalErrors.report('fleet', new Error('workers define a metric differently'))
    const retirement = isAlone ? undefined : this.#retire(directory, { members, retired })
    // A snapshot still reads the routes from the buffers. A scrape needs only the sum.
    if (!withRoutes) retirement?.then(loan.giveBack)
    return { sum, members, states: statesOf(members, retired) }
  }

  close() {
    if (this.#isClosed) return
    this.#isClosed = true
    const { internalErrors } = this.#deps
    const directory = this.#directory
    internalErrors.guard('fleet', () => directory?.writeNow(this.#id, this.#reporter.makeNow(this.#self())))
    internalErrors.guard('fleet', () => this.giveBackToken())
    this.#closeSocket()
    open.delete(this)
    if (open.size === 0) process.off('exit', onExit)
  }
}

exports.Fleet = Fleet
