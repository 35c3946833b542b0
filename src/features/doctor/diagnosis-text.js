'use strict'
// A diagnosis as text for a terminal: first the summary, then each finding with its figures and what to do.

const { WORD_ENDS, duration, figure } = require('../../core/readable')

const USUAL_WIDTH = 100
const INDENT = '    '

/** @import { Diagnosis, Finding } from '../../../index.js' */
/** @typedef {(finding: Finding) => string[]} NextOf the commands that show more */

/**
 * @param {Diagnosis} diagnosis
 * @param {{ width?: number, nextOf?: NextOf }} [options]
 */
function textOf(diagnosis, { width = USUAL_WIDTH, nextOf } = {}) {
  const { findings, summary } = diagnosis
  if (findings.length === 0) return `${summary}\n`
  return [
    `${headOf(diagnosis)}\n`,
    ...findings.map((finding) => findingText(finding, width, nextOf?.(finding) ?? [])),
  ].join('\n')
}

/** @param {Diagnosis} diagnosis */
function headOf({ blockedMs, findings, requests, seconds }) {
  const times = (/** @type {number} */ count) => `${count} finding${count === 1 ? '' : 's'}`
  const over = `${requests} requests of the last ${Math.round(seconds)} seconds`
  if (blockedMs === undefined) return `${times(findings.length)} in ${over}`
  const now = `Blocked now, for ${duration(blockedMs)}`
  if (requests === 0 && findings.length === 1) return `${now}. Nothing is known of the time before.`
  return `${now}. ${times(findings.length - 1)} in ${over} before that`
}

/** @param {Finding} finding @param {number} width @param {string[]} next */
function findingText({ advice, effectOf, evidence, more, problem, severity, summary }, width, next) {
  const effect = effectOf === null ? '' : `, an effect of ${effectOf}`
  return [
    `${severity.toUpperCase()}  ${problem}${effect}`,
    ...wrapped(summary, width),
    ...evidence.flatMap((each) => wrapped(`- ${each.name}: ${figure(each)}`, width, '  ')),
    ...wrapped(`What to do: ${advice}`, width),
    // A command is not wrapped, so that it can be copied.
    ...next.map((command) => `${INDENT}Next: ${command}`),
    `${INDENT}More: ${more}`,
    '',
  ].join('\n')
}

/**
 * @param {string} text
 * @param {number} width
 * @param {string} [more] how much further the lines after the first are indented
 */
function wrapped(text, width, more = '') {
  const lines = []
  let line = INDENT
  let isEmpty = true
  const room = width - INDENT.length - more.length
  for (const word of text.split(WORD_ENDS).flatMap((each) => piecesOf(each, room))) {
    if (!isEmpty && line.length + word.length > width) {
      lines.push(line.trimEnd())
      line = INDENT + more
    }
    line += `${word} `
    isEmpty = false
  }
  return [...lines, line.trimEnd()]
}

/** A word longer than a line, such as a route, is broken. @param {string} word @param {number} room */
const piecesOf = (word, room) =>
  word.length <= room ? [word] : (word.match(new RegExp(`.{1,${room}}`, 'gu')) ?? [])

module.exports = { textOf }
