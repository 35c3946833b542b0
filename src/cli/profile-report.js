'use strict'
// The tables of a profile, the costliest row first: for a heap profile what grew, then packages and
// functions. `self` is the cost of the function itself. `total` includes the functions that it calls.

const { NONE, bytes, duration, percent } = require('../core/readable')
const { wrap } = require('./printable-text')
const { tableLines } = require('./text-table')

/**
 * @import { Output } from './output'
 * @import { Column, Look } from './text-table'
 * @typedef {{ name: string, file: string | null, line: number | null, package: string | null,
 *   selfShare: number, totalShare: number, isHandler: boolean, selfMs?: number, totalMs?: number,
 *   selfBytes?: number, totalBytes?: number }} Row has only the figures of its kind of profile
 * @typedef {Pick<Row, 'name' | 'file' | 'line' | 'package' | 'isHandler'> & Record<'growthBytes' |
 *   'beforeBytes' | 'selfBytes', number>} GrowthRow
 * @typedef {{ functions?: Row[], packages?: Row[], growth?: GrowthRow[], growthMs?: number,
 *   externalGrowthBytes?: number, readPauseMs?: number, startPauseMs?: number, durationMs?: number,
 *   samples?: number }} ProfileResult
 */

const MAX_PACKAGES = 10
const MAX_FUNCTIONS = 20
const MAX_GROWING = 10
/** A smaller growth outside the heap may come from requests in flight. */
const MIN_EXTERNAL_GROWTH = 1e6
const HOUR_MS = 3_600_000
/** Rows with a smaller share are sampling noise. */
const MIN_SHARE = 0.001

/** A heap profile counts bytes, others count milliseconds. */
const KINDS = /** @type {const} */ ({
  profile: { self: 'selfMs', total: 'totalMs', shown: duration, what: 'of CPU time' },
  heap: { self: 'selfBytes', total: 'totalBytes', shown: bytes, what: 'allocated and still in use' },
})

/**
 * @param {ProfileResult} result
 * @param {{ kind: keyof typeof KINDS, out: Output }} how
 * @returns {string[]}
 */
function profileLines(result, { kind, out }) {
  const look = { paint: out.paint, width: out.lineWidth, end: out.isUnicode ? '…' : '...' }
  const { shown, self, total, what } = KINDS[kind]
  const { functions = [], packages = [], startPauseMs, readPauseMs, durationMs, samples } = result
  /** @param {Column<Row>[]} first @returns {Column<Row>[]} */
  const columns = (first) => [
    { head: 'self', of: (row) => shown(row[self]), least: 8 },
    { head: '', of: (row) => percent(row.selfShare), least: 6, from: 56 },
    { head: 'total', of: (row) => shown(row[total]), least: 8, from: 70 },
    { head: '', of: (row) => percent(row.totalShare), least: 6, from: 90 },
    ...first,
  ]
  const byPackage = columns([
    { head: 'package', isText: true, isFlexible: true, of: ({ name, package: of }) => of || name },
  ])
  const byFunction = columns([
    {
      head: 'function',
      isText: true,
      of: nameOf,
      style: ({ isHandler }) => (isHandler ? 'cyan' : undefined),
    },
    { head: 'where', isText: true, isFlexible: true, of: placeOf },
  ])
  const rows = most(functions, MAX_FUNCTIONS)
  const packageRows = most(packages, MAX_PACKAGES)
  const facts = [
    durationMs === undefined ? undefined : duration(durationMs),
    samples === undefined ? undefined : `${samples} samples`,
    startPauseMs === undefined ? undefined : `the start paused the process for ${duration(startPauseMs)}`,
    readPauseMs === undefined
      ? undefined
      : `a reading paused the process for ${duration(readPauseMs)} at most`,
  ]
  return [
    ...wrap(facts.filter(Boolean).join(', '), look.width),
    '',
    ...growthLines(result, look),
    ...externalLines(result, out.lineWidth),
    ...(kind === 'heap' && rows.length > 0
      ? [out.paint('bold', `Allocated in ${duration(durationMs)}, and still in use`)]
      : []),
    ...(packageRows.length === 0 ? [] : [...tableLines(byPackage, packageRows, look), '']),
    ...(rows.length === 0
      ? [`Nothing was ${kind === 'heap' ? what : 'running'}.`]
      : tableLines(byFunction, rows, look)),
    ...(rows.some(({ isHandler }) => isHandler) ? ['', '* the handler of a route'] : []),
  ]
}

/**
 * Returns the table of what grew in the second half of a heap profile.
 *
 * @param {ProfileResult} result @param {Look} look
 */
function growthLines({ growth, growthMs = 0 }, look) {
  if (growth === undefined) return []
  if (growth.length === 0) return [`Nothing grew in the last ${duration(growthMs)}.`, '']
  /** @param {number} value */
  const anHour = (value) => (growthMs === 0 ? NONE : bytes((value / growthMs) * HOUR_MS))
  /** @type {Column<GrowthRow>[]} */
  const columns = [
    { head: 'grew by', of: ({ growthBytes }) => bytes(growthBytes), least: 8 },
    { head: 'an hour', of: ({ growthBytes }) => anHour(growthBytes), least: 8, from: 56 },
    { head: 'in use', of: ({ selfBytes }) => bytes(selfBytes), least: 8, from: 70 },
    { head: 'function', isText: true, of: nameOf },
    { head: 'where', isText: true, isFlexible: true, of: placeOf },
  ]
  const title = look.paint('bold', `Grew in the last ${duration(growthMs)}`)
  return [title, ...tableLines(columns, growth.slice(0, MAX_GROWING), look), '']
}

/** @param {ProfileResult} result @param {number} width */
function externalLines({ externalGrowthBytes = 0 }, width) {
  if (externalGrowthBytes < MIN_EXTERNAL_GROWTH) return []
  const grew = `Memory outside the heap grew by ${bytes(externalGrowthBytes)} meanwhile.`
  return [...wrap(`${grew} This profile does not show it.`, width), '']
}

/** @param {Row[]} rows @param {number} number */
const most = (rows, number) => rows.filter(({ totalShare }) => totalShare >= MIN_SHARE).slice(0, number)

/** @param {Pick<Row, 'name' | 'isHandler'>} row */
const nameOf = ({ name, isHandler }) => `${name || '(anonymous)'}${isHandler ? ' *' : ''}`

/** @param {Pick<Row, 'file' | 'line' | 'package'>} row */
function placeOf({ file, line, package: of }) {
  if (!file) return of ?? ''
  return line ? `${file}:${line}` : file
}

module.exports = { profileLines }
