'use strict'
// A diagnosis as text for a terminal: the sentence first, then each finding with its figures and what to do.

const WIDTH = 100
const INDENT = '    '

/** @param {import('../../../index.js').Diagnosis} diagnosis */
function textOf({ findings, requests, seconds, summary }) {
  if (findings.length === 0) return `${summary}\n`
  const head = `${findings.length} finding${findings.length === 1 ? '' : 's'} in ${requests} requests of the last ${Math.round(seconds)} seconds\n`
  return [head, ...findings.map(findingText)].join('\n')
}

function findingText({ advice, effectOf, evidence, more, problem, severity, summary }) {
  const effect = effectOf === null ? '' : `, an effect of ${effectOf}`
  return [
    `${severity.toUpperCase()}  ${problem}${effect}`,
    ...wrapped(summary),
    ...evidence.map(
      ({ name, unit, value }) => `${INDENT}- ${name}: ${value}${unit === '' ? '' : ` ${unit}`}`
    ),
    ...wrapped(`What to do: ${advice}`),
    `${INDENT}More: ${more}`,
    '',
  ].join('\n')
}

function wrapped(text) {
  const lines = []
  let line = INDENT
  for (const word of text.split(' ')) {
    if (line.length + word.length > WIDTH && line !== INDENT) {
      lines.push(line.trimEnd())
      line = INDENT
    }
    line += `${word} `
  }
  return [...lines, line.trimEnd()]
}

module.exports = { textOf }
