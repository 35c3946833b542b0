'use strict'
// Prints a story: how it was, a line of progress while it runs, the table, what Spillway said, and what to
// learn. In a pipe there are no colours, and no line is drawn twice.

const { rowsOf } = require('./rows')
const { TIMES, isDisturbed, saidLines } = require('./said-lines')
const { columnsOf, wrapped } = require('./wrapped')

const { stdout } = process
const isColoured = !process.env.NO_COLOR && stdout.isTTY === true && stdout.hasColors?.() === true
const bold = (text) => (isColoured ? `\x1b[1m${text}\x1b[0m` : text)
const BAR = 10
/** A line of progress is of a second, and of all parts together: no figure of it is in the table. */
const WHOLE = 'over the whole run'
/** Interval of the lines of progress in a pipe. */
const PIPE_SECONDS = 5
const MIN_CELL = 10
const BUSY =
  'This machine was busy with other programs (host-starved): the figures are rough. For exact figures stop them and run the story again.'

const print = (...lines) => console.log(lines.join('\n'))

function printHead({ intro, title }) {
  print(bold(title), '', ...wrapped(intro), '')
}

const runTitle = ({ name, what }) => (what === undefined || name.includes(what) ? name : `${name}: ${what}`)

function printRun(run, seconds, mayEndEarlier) {
  const secondsAre = run.secondsAre === undefined ? '' : ` ${run.secondsAre}`
  if (!stdout.isTTY) print(`${runTitle(run)}, ${mayEndEarlier ? 'at most ' : ''}${seconds} s${secondsAre}`)
  return {
    second(progress) {
      const text = progressText(progress)
      if (stdout.isTTY) draw(`${run.name.padEnd(8)} ${barOf(progress.second / seconds)} ${text}`)
      else if (progress.text !== undefined || progress.second % PIPE_SECONDS === 0)
        print(`  ${timed(progress, text)}`)
    },
    end() {
      if (stdout.isTTY) {
        draw(`${runTitle(run)}: done`)
        stdout.write('\n')
      }
    },
  }
}

const timed = ({ second, served }, text) =>
  served === undefined ? text : `${String(second).padStart(2)} s: ${text}`

function progressText({ errors = 0, of = 'all requests', p99Ms, served, text, unanswered = 0 }) {
  if (text !== undefined) return text
  const counts = [
    `${served} answers`,
    unanswered > 0 && `${unanswered} unanswered`,
    errors > 0 && `${errors} error${errors === 1 ? '' : 's'}`,
    p99Ms !== null && `p99 ${p99Ms} ms`,
  ]
  return `this second, ${of}: ${counts.filter(Boolean).join(', ')}`
}

function barOf(share) {
  const full = Math.round(Math.min(1, share) * BAR)
  return '#'.repeat(full) + '.'.repeat(BAR - full)
}

const draw = (text) => stdout.write(`\r\x1b[K${text.slice(0, columnsOf())}`)

function printEnd(story, told) {
  print('', ...(story.table?.(told) ?? tableLines(told)))
  const silent = new Set(story.runs.filter(({ isSilent }) => isSilent).map(({ name }) => name))
  print('', bold('What Spillway said by itself'), '', ...wrapped(TIMES))
  for (const run of told.runs.filter(({ name }) => !silent.has(name)))
    print('', bold(runTitle(run)), '', ...saidLines(run))
  if (told.runs.some(isDisturbed)) print('', ...wrapped(BUSY))
  print(
    '',
    bold('What to learn'),
    '',
    ...story.learn.flatMap((text) => wrapped(text, { first: '  - ', indent: '    ' }))
  )
}

/** @returns {string[]} */
function tableLines(told) {
  const rows = rowsOf(told)
  const heads = told.runs.map(({ name }) => name)
  const first = Math.max(WHOLE.length, ...rows.map(({ head }) => head.length)) + 2
  const widths = heads.map(
    (head, i) => 2 + Math.max(MIN_CELL, head.length, ...rows.map(({ cells }) => cells[i]?.length ?? 0))
  )
  const line = (head, cells) =>
    (head.padEnd(first) + cells.map((cell, i) => cell.padStart(widths[i])).join('')).trimEnd()
  return [
    bold(line(WHOLE, heads)),
    ...rows.map(({ cells, head }) => (cells.length === 0 ? bold(head) : line(head, cells))),
  ]
}

module.exports = { printEnd, printHead, printRun, progressText, tableLines }
