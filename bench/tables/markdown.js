'use strict'
// The parts of the tables that bench/tables writes.

const { inOrder, load, majorsOf } = require('../support/results')

/** @returns {string} how the figures were measured: the command, the date and the machine */
const stamp = ({ date, machine }, command) =>
  `\`npm run bench -- ${command}\`, ${date}: ${machine.cpu}, ${machine.cores} cores, ${machine.platform}, Node ${machine.node}.`

const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const folded = (summary, content) =>
  ['<details>', `<summary>${summary}</summary>`, '', content, '', '</details>'].join('\n')

/**
 * The section of the leading Node, and the sections of the other majors, folded, behind it.
 * @param {string[]} names of results. A section has those that were measured with its major.
 * @param {(all: any[], major: number) => string} sectionOf
 */
function byNode(names, sectionOf) {
  const majors = inOrder(names.flatMap(majorsOf))
  if (majors.length === 0) throw new Error(`There are no results of ${names.join(', ')}.`)
  const sections = majors.map((major) =>
    sectionOf(
      names.filter((name) => majorsOf(name).includes(major)).map((name) => load(name, major)),
      major
    )
  )
  return [
    sections[0],
    ...sections.slice(1).map((section, i) => folded(`On Node ${majors[i + 1]}`, section)),
  ].join('\n\n')
}

/** @returns {any} the results of the leading Node */
function leading(name) {
  const [major] = majorsOf(name)
  if (major === undefined) throw new Error(`There are no results of ${name}.`)
  return load(name, major)
}

/** @returns {number} the major of Node that the results were measured with */
const majorOf = ({ machine }) => Number(/^v(\d+)/.exec(machine.node)?.[1])

const share = (value) => value.toFixed(2)
const percent = (ratio, digits = 1) => `${(ratio * 100).toFixed(digits)} %`
const whole = (value) => (value === null ? '–' : String(Math.round(value)))
const distinct = (values) => [...new Set(values)]

module.exports = { byNode, distinct, folded, leading, majorOf, percent, share, stamp, table, whole }
