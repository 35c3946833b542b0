'use strict'
// The rows of the table of a story: a section for each part of the load, then the process. A cell is a text.

const number = (value) =>
  value === null || value === undefined
    ? '-'
    : value >= 100
      ? String(Math.round(value))
      : String(Math.round(value * 10) / 10)
/** Bytes as megabytes, in the unit of the findings. */
const megabytes = (bytes) => (bytes > 0 ? `${Math.round(bytes / 1e6)} MB` : '-')
const ms = (value) => (value === null || value === undefined ? '-' : `${number(value)} ms`)

const FIGURES = [
  ['answers a second', ({ perSecond }) => number(perSecond)],
  ['mean', ({ meanMs }) => ms(meanMs)],
  ['p50', ({ p50Ms }) => ms(p50Ms)],
  ['p95', ({ p95Ms }) => ms(p95Ms)],
  ['p99', ({ p99Ms }) => ms(p99Ms)],
  ['errors', ({ errors }) => String(errors)],
]
/** Rows that are shown only if a run has such requests. */
const SOME = [
  ['no answer', 'unanswered'],
  ['rejected (503)', 'rejected'],
]

/** @returns {{ head?: string, cells: string[] }[]} `head` alone begins a section */
function rowsOf({ runs }) {
  const names = [...new Set(runs.flatMap(({ parts }) => parts.map(({ name }) => name)))]
  return [
    ...names.flatMap((name) => sectionOf(name, runs)),
    { head: 'the process', cells: [] },
    { head: '  memory, at most', cells: runs.map(({ memory }) => megabytes(memory.peakRssBytes)) },
    { head: '  event loop stalled', cells: runs.map(({ stalls, seconds }) => blocked(stalls, seconds)) },
    ...(runs.some(({ crash, workerCrash }) => crash ?? workerCrash)
      ? [{ head: '  ended by itself', cells: runs.map(crashCell) }]
      : []),
  ]
}

function sectionOf(name, runs) {
  const parts = runs.map((run) => run.parts.find((part) => part.name === name))
  const some = SOME.filter(([, key]) => parts.some((part) => part?.[key] > 0))
  const figures = [...FIGURES, ...some.map(([label, key]) => [label, (part) => String(part[key])])]
  return [
    { head: name, cells: [] },
    ...figures.map(([label, of]) => ({
      head: `  ${label}`,
      cells: parts.map((part) => (part === undefined || part.count + part.rejected === 0 ? '-' : of(part))),
    })),
  ]
}

const blocked = ({ totalMs }, seconds) =>
  totalMs === 0 ? 'never' : `${Math.min(100, Math.round(totalMs / seconds / 10))} %`

function crashCell({ crash, workerCrash }) {
  const { afterMs } = crash ?? workerCrash ?? {}
  if (afterMs === undefined) return 'no'
  return `${crash ? '' : 'worker '}after ${number(afterMs / 1000)} s`
}

module.exports = { rowsOf }
