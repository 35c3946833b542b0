'use strict'
// A diagnosis as text for a terminal: the sentence first, then each finding with its figures and what to do.

const { figure } = require('../../core/readable')

const USUAL_WIDTH = 100
const INDENT = '    '

/** @import { Diagnosis, Finding } from '../../../index.js' */
/** @typedef {(finding: Finding) => string | undefined} NextOf the command that shows more */

/**
 * @param {Diagnosis} diagnosis
 * @param {{ width?: number, nextOf?: NextOf }} [options]
 */
function textOf({ findings, requests, seconds, summary }, { width = USUAL_WIDTH, nextOf } = {}) {
  if (findings.length === 0) return `${summary}\n`
  const head = `${findings.length} finding${findings.length === 1 ? '' : 's'} in ${requests} requests of the last ${Math.round(seconds)} seconds\n`
  return [head, ...findings.map((finding) => findingText(finding, width, nextOf?.(finding)))].join('\n')
}

/** @param {Finding} finding @param {number} width @param {string | undefined} next */
function findingText({ advice, effectOf, evidence, more, problem, severity, summary }, width, next) {
  const effect = effectOf === null ? '' : `, an effect of ${effectOf}`
  return [
    `${severity.toUpperCase()}  ${problem}${effect}`,
    ...wrapped(summary, width),
    ...evidence.map((each) => `${INDENT}- ${each.name}: ${figure(each)}`),
    ...wrapped(`What to do: ${advice}`, width),
    // In one piece, to be copied.
    ...(next === undefined ? [] : [`${INDENT}Next: ${next}`]),
    `${INDENT}More: ${more}`,
    '',
  ].join('\n')
}

/** @param {string} text @param {number} width */
function wrapped(text, width) {
  const lines = []
  let line = INDENT
  for (const word of text.split(' ')) {
    if (line.length + word.length > width && line !== INDENT) {
      lines.push(line.trimEnd())
      line = INDENT
    }
    line += `${word} `
  }
  return [...lines, line.trimEnd()]
}

module.exports = { textOf }
