'use strict'
// Polls the fleet: requests a report from every member at once, waits for slow members within a timeout, and
// reads each member's newest report. If a listed file vanishes meanwhile, all files are read again. Another
// member may have retired the file's owner, and its counts must not be added twice.

const { requestReport } = require('./member-socket')
const { isRunning } = require('./member-identity')
const { isHeadOf, readHead } = require('../reports/report')

/**
 * @import { Directory } from './directory'
 * @import { Answer, Reply } from './member-socket'
 * @import { Head, RetiredHead } from '../reports/report'
 * @import { Loan } from '../reports/report-file'
 */

/**
 * Reading and adding up take another 50 ms. So a scrape of a fleet with a silent worker takes less than a
 * second.
 */
const REPLY_TIMEOUT_MS = 700
const ATTEMPTS = 5
const NO_REPORT = 'it is not a complete report of this version'
/** For a member that joined after the reports were requested. @type {Reply} */
const HAS_JOINED = { answer: 'answered' }

/**
 * @typedef {Pick<import('../../../core/clock').Clock, 'after'>} Clock
 */
/**
 * A member, as its report describes it; `error`: why the report is unreadable
 *
 * @typedef {{ id: string, report: Buffer | undefined, head: Head, state: 'live' | 'silent' | 'departed',
 *   error?: unknown }} ReadableMember
 * @typedef {{ id: string, report: Buffer | undefined, head: Head | undefined, state: 'unreadable',
 *   error?: unknown }} UnreadableMember
 * @typedef {ReadableMember | UnreadableMember} Member
 * @typedef {ReadableMember & { worker: string }} NamedReadable
 * @typedef {NamedReadable | UnreadableMember & { worker: string }} NamedMember
 */
/**
 * @typedef {object} Retired the report of the retired members
 * @property {Buffer | undefined} report
 * @property {RetiredHead} head of the report
 * @property {number | undefined} generation
 * @property {number[]} generations all generations that have a file
 * @property {string[]} stillThere the retired members whose own reports are not removed yet
 * @property {number} touchedMs when the file was last touched
 * @property {unknown} [error] why the report is unreadable
 */
/** @typedef {{ members: Member[], retired: Retired }} Poll */

/**
 * @param {Directory} directory
 * @param {{ clock: Clock, ownId: string, ownReport: Promise<Buffer>, withRoutes: boolean, loan: Loan }} own
 * @returns {Promise<Poll>} with this member first
 */
async function pollMembers(directory, { clock, ownId, ownReport, withRoutes, loan }) {
  /** @param {string} id */
  const request = (id) => requestReport(directory.socketOf(id), withRoutes, REPLY_TIMEOUT_MS, clock)
  // Awaited together: if the own report were awaited later, its failure would be an unhandled rejection and
  // end the process.
  const [report, replies] = await Promise.all([ownReport, requestOthers(directory, ownId, request)])
  const own = ownMember(report)
  for (let attempt = 1; ; attempt++) {
    try {
      const { members, retired } = await readAll(directory, ownId, replies, loan)
      return { members: [own, ...members], retired }
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT' || attempt === ATTEMPTS) throw error
    }
  }
}

/**
 * @param {Directory} directory
 * @param {string} ownId
 * @param {(id: string) => Promise<Reply>} request
 * @returns {Promise<Map<string, Reply>>}
 */
async function requestOthers(directory, ownId, request) {
  const { ids, socketIds } = await directory.list()
  // Includes members without a report: cleaners of temporary directories remove old files, but not sockets in
  // use.
  const others = [...new Set([...ids, ...socketIds])].filter((id) => id !== ownId)
  return new Map(await Promise.all(others.map(async (id) => /** @type {const} */ ([id, await request(id)]))))
}

/** @param {Buffer} report @returns {Member} */
function ownMember(report) {
  const head = /** @type {Head} */ (readHead(report))
  return { id: head.id, report, head, state: 'live' }
}

/** @param {{ pieces: Buffer[] }} made @returns {Poll} of a member without a directory */
function pollOfOne({ pieces }) {
  return { members: [ownMember(Buffer.concat(pieces))], retired: noneRetired(undefined, []) }
}

/** @param {number | undefined} generation @param {number[]} generations @returns {Retired} */
const noneRetired = (generation, generations) => ({
  report: undefined,
  head: { ids: [], count: 0 },
  generation,
  generations,
  stillThere: [],
  touchedMs: 0,
})

/**
 * @param {Directory} directory
 * @param {string} ownId
 * @param {Map<string, Reply>} replies
 * @param {Loan} loan
 * @returns {Promise<Poll>}
 */
async function readAll(directory, ownId, replies, loan) {
  const { ids, generation, generations } = await directory.list()
  const unwritten = [...replies.keys()].filter(
    (id) => /** @type {Reply} */ (replies.get(id)).report !== undefined
  )
  const retired = noneRetired(generation, generations)
  if (generation !== undefined) {
    const { report, touchedMs, error = new Error(NO_REPORT) } = await directory.readRetired(generation, loan)
    const head = readHead(report)
    if (head?.isDeparted === true) Object.assign(retired, { report, head })
    else retired.error = error
    retired.touchedMs = touchedMs
  }
  const retiredIds = new Set(retired.head.ids)
  /** @param {string} id */
  const read = async (id) => {
    const { answer, report } = replies.get(id) ?? HAS_JOINED
    return memberOf(id, report === undefined ? await directory.read(id, loan) : { report }, answer)
  }
  const others = [...new Set([...ids, ...unwritten])].filter((id) => id !== ownId && !retiredIds.has(id))
  const members = await Promise.all(others.map(read))
  const stillThere = ids.filter((id) => retiredIds.has(id))
  return { members, retired: { ...retired, stillThere } }
}

/**
 * @param {string} id
 * @param {{ report?: Buffer, error?: unknown }} read
 * @param {Answer} answer
 * @returns {Member}
 */
function memberOf(id, { report, error = new Error(NO_REPORT) }, answer) {
  const head = readHead(report)
  if (!isHeadOf(head, id)) return { id, report, head: undefined, state: 'unreadable', error }
  if (answer === 'answered') return { id, report, head, state: 'live' }
  return { id, report, head, state: hasDeparted(head, answer) ? 'departed' : 'silent' }
}

/**
 * Whether the member has ended: it has closed, its process has exited, or it was a thread, whose socket ends
 * with the thread. A missing socket of a running process proves nothing. A cleaner of temporary directories
 * may have removed it, and a member that is retired while it counts would be counted twice.
 *
 * @param {Head} head
 * @param {Answer} answer
 */
function hasDeparted(head, answer) {
  if (answer === 'silent') return false
  return head.isFinal || head.thread !== 0 || !isRunning(head.process)
}

module.exports = { pollMembers, pollOfOne }
