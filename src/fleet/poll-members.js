'use strict'
// The roll call: asks every member at once, waits for the slow no longer than a scrape may take, and reads what each has
// written, last known or new. Files come and go meanwhile: when one listed is gone, all is read again, so that what was
// folded in between is counted once.

const { knock } = require('./member-socket')
const { isRunning } = require('./member-identity')
const { isHeadOf, readHead } = require('./report')

/** Reading and adding up take some 50 ms more: a scrape with a silent worker in it stays under a second. */
const ANSWER_MS = 700
const ATTEMPTS = 5
const NO_REPORT = 'it is no report of this version, or not whole'
/** What is not there when the others are asked has joined just now. @type {import('./member-socket').Reply} */
const HAS_COME = { answer: 'answered' }

/**
 * @typedef {{ id: string, report: any, head: any, state: 'live' | 'silent' | 'unreadable' | 'departed', error?: any }} Member
 *   error: why it is unreadable
 * @typedef {{ report: Buffer | undefined, head: any, generation: number | undefined, generations: number[],
 *   stillThere: string[], touchedMs: number, error?: any }} Departed `stillThere`: whose reports are folded but not removed yet;
 *   error: why its report is unreadable
 * @typedef {{ members: Member[], departed: Departed }} Roll
 */

/**
 * @param {any} directory
 * @param {{ clock: any, ownId: string, ownReport: Promise<Buffer>, withRoutes: boolean, loan: import('./report-buffers').Loan }} own
 * @returns {Promise<Roll>} this member first
 */
async function callRoll(directory, { clock, ownId, ownReport, withRoutes, loan }) {
  const ask = (id) => knock(directory.socketOf(id), withRoutes, ANSWER_MS, clock)
  // At once: were ours waited for only after the others were found, its failure would be nobody's, and end the process.
  const [report, replies] = await Promise.all([ownReport, askOthers(directory, ownId, ask)])
  const own = ownOf(report)
  for (let attempt = 1; ; attempt++) {
    try {
      const { members, departed } = await readAll(directory, ownId, replies, loan)
      return { members: [own, ...members], departed }
    } catch (/** @type {any} */ error) {
      if (error.code !== 'ENOENT' || attempt === ATTEMPTS) throw error
    }
  }
}

/** @returns {Promise<Map<string, import('./member-socket').Reply>>} */
async function askOthers(directory, ownId, ask) {
  const { ids, doors } = await directory.list()
  // Those too whose report is gone: whoever cleans temporary directories leaves sockets that are in use.
  const others = [...new Set([...ids, ...doors])].filter((id) => id !== ownId)
  return new Map(await Promise.all(others.map(async (id) => /** @type {const} */ ([id, await ask(id)]))))
}

/** @returns {Member} */
function ownOf(report) {
  const head = readHead(report)
  return { id: head.id, report, head, state: 'live' }
}

/** @returns {Roll} of who is alone */
function rollOfOne({ pieces }) {
  return { members: [ownOf(Buffer.concat(pieces))], departed: nobody(undefined, []) }
}

/** @returns {Departed} */
const nobody = (generation, generations) => ({
  report: undefined,
  head: { ids: [], count: 0 },
  generation,
  generations,
  stillThere: [],
  touchedMs: 0,
})

/** @returns {Promise<Roll>} */
async function readAll(directory, ownId, replies, loan) {
  const { ids, departed: generation, generations } = await directory.list()
  const unwritten = [...replies.keys()].filter((id) => replies.get(id).report !== undefined)
  const departed = nobody(generation, generations)
  if (generation !== undefined) {
    const { report, touchedMs, error = new Error(NO_REPORT) } = await directory.readDeparted(generation, loan)
    const head = readHead(report)
    if (head?.isDeparted === true) Object.assign(departed, { report, head, touchedMs })
    else departed.error = error
  }
  const folded = new Set(departed.head.ids)
  const read = async (id) => {
    const { answer, report } = replies.get(id) ?? HAS_COME
    return memberOf(id, report === undefined ? await directory.read(id, loan) : { report }, answer)
  }
  const others = [...new Set([...ids, ...unwritten])].filter((id) => id !== ownId && !folded.has(id))
  const members = await Promise.all(others.map(read))
  const stillThere = ids.filter((id) => folded.has(id))
  return { members, departed: { ...departed, stillThere } }
}

/** @returns {Member} */
function memberOf(id, { report, error = new Error(NO_REPORT) }, answer) {
  const head = readHead(report)
  if (!isHeadOf(head, id)) return { id, report, head: undefined, state: 'unreadable', error }
  if (answer === 'answered') return { id, report, head, state: 'live' }
  return { id, report, head, state: hasGone(head, answer) ? 'departed' : 'silent' }
}

/**
 * Closed, or its process is no more, or it is a thread, which takes its door with it. Not for a missing door of a process
 * that runs: whoever cleans a temporary directory may have taken it, and what it counts would be counted twice.
 */
function hasGone(head, answer) {
  if (answer === 'silent') return false
  return head.isFinal || head.thread !== 0 || !isRunning(head.process)
}

module.exports = { callRoll, rollOfOne }
