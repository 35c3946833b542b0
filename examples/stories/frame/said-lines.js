'use strict'
// What Spillway said in a run, as lines of text: the log, the doctor, the stalls.

const { wrapped } = require('./wrapped')

/** This note stands below the heading, because figures of one thing differ. */
const TIMES =
  'A line of the log is of its moment, a finding of the last minute at most, and stalls are of the whole run.'
const OBSERVED =
  'The application runs in mode `observe`: nothing is rejected, and Spillway says what mode `adaptive` would reject.'
const INDENT = '           '
const labelled = (label, text, columns) =>
  wrapped(text, { first: `  ${label.padEnd(INDENT.length - 2)}`, indent: INDENT, columns })
const STARVED = 'host-starved'
const MAX_FINDINGS = 3
const MAX_LOGGED = 4

/** @returns {string[]} */
function saidLines(run, columns) {
  const lines = [
    ...worthMost(run.log).flatMap((group) => labelled('log', logged(group), columns)),
    ...causesFirst(run.found).flatMap((finding) => doctorLines(finding, columns)),
    ...run.stalls.sites
      .filter(({ function: name }) => name !== null)
      .slice(0, 1)
      .flatMap((site) => labelled('stalls', stallText(site), columns)),
    ...Object.entries(run.extra?.said ?? {}).flatMap(([label, text]) =>
      labelled(label, String(text), columns)
    ),
  ]
  if (isObserved(run)) lines.push(...labelled('mode', OBSERVED, columns))
  if (run.found.length === 0 && run.crash === null)
    lines.push(...labelled('doctor', 'nothing found', columns))
  if (run.crash) lines.push(...crashLines(run.crash, columns))
  return lines
}

const ERROR = 50
const WARN = 40

/** They stand as they came first, so that a cause is above its effect. */
function worthMost(log) {
  const kept = new Set([...log].sort((a, b) => rankOf(a) - rankOf(b)).slice(0, MAX_LOGGED))
  return log.filter((group) => kept.has(group))
}

/** Errors, then what the story asks for (`says`), then warnings, and last what the machine did. */
function rankOf(group) {
  if (isOfHost(group)) return 3
  return group.level >= ERROR ? 0 : group.level < WARN ? 1 : 2
}
const isOfHost = ({ message }) => /waited for a CPU/.test(message)

/** What the machine did to the process is said last: it is not what the story is about. */
function causesFirst(found) {
  const own = found.filter(({ problem }) => problem !== STARVED)
  return [...own.slice(0, MAX_FINDINGS), ...found.filter(({ problem }) => problem === STARVED)]
}

function logged({ count, error, message }) {
  const line = message.replace(/^spillway: /, '')
  const text = error === undefined ? line : `${line}: ${error}`
  return count > 1 ? `${text} (and ${count - 1} more like it)` : text
}

const doctorLines = ({ advice, effectOf, problem, severity, summary }, columns) => [
  ...labelled(
    'doctor',
    `${severity.toUpperCase()} ${problem}${effectOf ? `, an effect of ${effectOf}` : ''}: ${summary}`,
    columns
  ),
  ...(effectOf || problem === STARVED ? [] : wrapped(`What to do: ${advice}`, { indent: INDENT, columns })),
]

function stallText({ count, file, frames, function: name, line, method, route, totalMs }) {
  const called = frames[frames.findIndex((frame) => frame.startsWith(`${name} `)) - 1]
  const by = `${name} (${file}:${line})`
  const within = called === undefined ? '' : `, which called ${called.split(' ')[0]}`
  const where = route === null ? '' : ` of ${method} ${route}`
  return `${count} stall${count === 1 ? '' : 's'}${where} by ${by}${within}: ${(totalMs / 1000).toFixed(1)} s in all`
}

function crashLines({ afterMs, code, output, signal }, columns) {
  const how = signal ?? `exit code ${code}`
  const error = output.find((line) => /^\w*Error:|FATAL ERROR/.test(line))
  const text = `the process ended by itself after ${(afterMs / 1000).toFixed(1)} s (${how})${error ? `: ${error}` : ''}`
  return labelled('Node', text, columns)
}

/** Whether other programs disturbed a run. The threads of the story itself are no disturbance. */
const isDisturbed = ({ found, log }) =>
  log.some(isOfHost) ||
  found.some(({ problem, summary }) => problem === STARVED && /other processes/.test(summary))

const isObserved = ({ found, log }) =>
  [...log.map(({ message }) => message), ...found.map(({ summary }) => summary)].some((text) =>
    /would (shed|be rejected)/.test(text)
  )

module.exports = { TIMES, isDisturbed, saidLines }
