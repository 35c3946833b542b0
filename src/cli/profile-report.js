'use strict'
// The tables of a profile: by package, then by function, the costliest first. `self` is in the function itself, `total` is with all that
// it calls.

const { bytes, duration, percent } = require('../core/readable')
const { tableLines } = require('./text-table')

/**
 * @import { Output } from './output'
 * @import { Column } from './text-table'
 * @typedef {{ name: string, file: string | null, line: number | null, package: string | null, selfShare: number, totalShare: number, isHandler: boolean,
 *   selfMs?: number, totalMs?: number, selfBytes?: number, totalBytes?: number }} Row it has the figures of its kind only
 * @typedef {{ functions?: Row[], packages?: Row[], startPauseMs?: number, durationMs?: number, samples?: number }} ProfileResult
 */

const MOST_PACKAGES = 10
const MOST_FUNCTIONS = 20
/** Rows below are noise of the sampling. */
const LEAST_SHARE = 0.001

/** What a heap profile counts is bytes, else milliseconds. */
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
  const { functions = [], packages = [], startPauseMs, durationMs, samples } = result
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
  const rows = most(functions, MOST_FUNCTIONS)
  const packageRows = most(packages, MOST_PACKAGES)
  const facts = [
    durationMs === undefined ? undefined : duration(durationMs),
    samples === undefined ? undefined : `${samples} samples`,
    startPauseMs === undefined ? undefined : `the start paused the process for ${duration(startPauseMs)}`,
  ]
  return [
    facts.filter(Boolean).join(', '),
    '',
    ...(packageRows.length === 0 ? [] : [...tableLines(byPackage, packageRows, look), '']),
    ...(rows.length === 0
      ? [`Nothing was ${kind === 'heap' ? what : 'running'}.`]
      : tableLines(byFunction, rows, look)),
    ...(rows.some(({ isHandler }) => isHandler) ? ['', '* the handler of a route'] : []),
  ]
}

/** @param {Row[]} rows @param {number} number */
const most = (rows, number) => rows.filter(({ totalShare }) => totalShare >= LEAST_SHARE).slice(0, number)

/** @param {Row} row */
const nameOf = ({ name, isHandler }) => `${name || '(anonymous)'}${isHandler ? ' *' : ''}`

/** @param {Row} row */
function placeOf({ file, line, package: of }) {
  if (!file) return of ?? ''
  return line ? `${file}:${line}` : file
}

module.exports = { profileLines }
