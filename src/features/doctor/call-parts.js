'use strict'
// Parts of the time of outgoing calls: waiting for a free socket, the look-up of the name (DNS), connecting,
// waiting for the first byte.

const { duration } = require('../../core/readable')

/**
 * @import { CallFigures, CallParts, CallSums } from './figures'
 * @typedef {Pick<CallSums, 'count' | 'parts' | 'totalMs'>} Sums
 */

/** A part with less than half of the time explains nothing. */
const MOST = 0.5
/** A smaller part gets no line in the evidence. */
const SHOWN = 0.1

/** @type {readonly (keyof CallParts)[]} */
const KEYS = Object.freeze(['waitMs', 'connections', 'lookupMs', 'connectMs', 'firstByteMs'])

/** @param {(key: keyof CallParts) => number} valueFor */
const partsFrom = (valueFor) =>
  /** @type {CallParts} */ (Object.fromEntries(KEYS.map((key) => [key, valueFor(key)])))

/** @param {CallParts | undefined} a @param {CallParts | undefined} b @returns {CallParts | undefined} */
const addedParts = (a, b) => a && b && partsFrom((key) => a[key] + b[key])

/**
 * @param {CallParts | undefined} later
 * @param {CallParts | undefined} before
 * @returns {CallParts | undefined}
 */
const partsSince = (later, before) => later && partsFrom((key) => later[key] - (before?.[key] ?? 0))

/** @typedef {{ name: string, verb: string, advice: (host: string) => string }} Kind */

const KEEP =
  'Keep connections open (an agent with `keepAlive`), so that fewer calls have to open a connection.'

/** @type {Readonly<Record<'waitMs' | 'lookupMs' | 'connectMs' | 'firstByteMs', Kind>>} */
const KINDS = Object.freeze({
  waitMs: {
    name: 'waiting for a free socket',
    verb: 'are a wait for a free socket',
    advice: (host) =>
      `Look at the agent of the calls to ${host}, and at what makes many calls at a time over it. It has too few sockets for them: \`maxSockets\` of an agent, \`connections\` of undici.`,
  },
  lookupMs: {
    name: 'DNS look-up',
    verb: 'are DNS look-up',
    advice: (host) =>
      `Look at the DNS servers of this machine (/etc/resolv.conf, and \`ndots\` in Kubernetes), not at ${host}. ${KEEP}`,
  },
  connectMs: {
    name: 'connecting',
    verb: 'are spent connecting',
    advice: (host) => `Look at the network to ${host}, and whether ${host} accepts connections late. ${KEEP}`,
  },
  firstByteMs: {
    name: 'until the first byte',
    verb: 'pass until the first byte',
    advice: (host) => `Look at ${host}: its own latency, and the network to it.`,
  },
})

/** The part that took at least half of the time of the calls. @param {CallFigures} call */
function mostOfCall({ parts, totalMs }) {
  if (parts === undefined) return undefined
  const keys = /** @type {(keyof typeof KINDS)[]} */ (Object.keys(KINDS))
  const key = keys.find((each) => totalMs > 0 && parts[each] >= MOST * totalMs)
  return key && { ...KINDS[key], ms: parts[key] }
}

/**
 * A sentence, such as "Of the 830 ms of a call, 800 ms are DNS look-up.", or nothing.
 *
 * @param {CallFigures} call
 */
function describeCall(call) {
  const most = mostOfCall(call)
  if (most === undefined) return ''
  return ` Of the ${duration(call.totalMs / call.count)} of a call, ${duration(most.ms / call.count)} ${most.verb}.`
}

/** @param {CallFigures} call */
const adviceOfCall = (call) => (mostOfCall(call) ?? KINDS.firstByteMs).advice(call.host)

/** @param {CallFigures} call @returns {[name: string, value: number, unit: string][]} */
function figuresOfCall({ count, host, parts, totalMs }) {
  const mean = /** @type {[string, number, string]} */ ([
    `calls to ${host}`,
    totalMs / count,
    'ms on average',
  ])
  if (parts === undefined) return [mean]
  const shown = /** @type {(keyof typeof KINDS)[]} */ (Object.keys(KINDS)).filter(
    (key) => parts[key] >= SHOWN * totalMs
  )
  return [
    mean,
    ...shown.map(
      (key) =>
        /** @type {[string, number, string]} */ ([
          `${KINDS[key].name}, mean of a call`,
          parts[key] / count,
          'ms on average',
        ])
    ),
    ['calls that opened a connection', parts.connections / count, 'share of the calls'],
  ]
}

/** Time of a call without the wait for other calls: the same however many there are. @param {Sums} sums */
const ownMsOf = ({ count, parts, totalMs }) => (totalMs - (parts?.waitMs ?? 0)) / count

/** Whether the wait for a free socket is at least half of the time of the calls. @param {Sums} sums */
const isMostlyWaiting = ({ parts, totalMs }) => parts !== undefined && parts.waitMs >= MOST * totalMs

module.exports = {
  addedParts,
  adviceOfCall,
  describeCall,
  figuresOfCall,
  isMostlyWaiting,
  ownMsOf,
  partsSince,
}
