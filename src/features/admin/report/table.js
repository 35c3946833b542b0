'use strict'
// A table of a report, and a section that says what its figures cover. The first cell of a row names the row.

const { duration } = require('../../../core/readable')
const { html } = require('./markup')

/**
 * @import { Content } from './markup'
 * @import { Run } from './run'
 * @import { Times } from './times'
 *
 * @typedef {ReturnType<typeof html>} Html
 * @typedef {string | { title: string, isText?: boolean, about?: string }} Head a plain string is the
 *   title of a column of figures
 *
 * @param {{ caption: string, heads: Head[], rows: (string | Html | null)[][], isSmall?: boolean }} table
 */
function makeTable({ caption, heads, rows, isSmall = false }) {
  const columns = heads.map((head) => (typeof head === 'string' ? { title: head } : head))
  /** @param {number} i */
  const kindOf = (i) => (columns[i].isText ? 'text' : 'figure')
  const headCells = columns.map(({ title }, i) =>
    title === '' ? html`<td></td>` : html`<th scope="col" class="${kindOf(i)}">${title}</th>`
  )
  const lines = rows.map(
    ([name, ...cells]) =>
      html`<tr><th scope="row" class="text">${name}</th>${cells.map((cell, i) => html`<td class="${kindOf(i + 1)}">${cell}</td>`)}</tr>`
  )
  return html`<div class="scroll${isSmall && ' small'}" role="group" tabindex="0" aria-label="${caption}"><table>
<caption>${caption}</caption><thead><tr>${headCells}</tr></thead><tbody>${lines}</tbody></table></div>`
}

/** @param {string} caption @param {[name: string, value: string | Html][]} rows */
const makeFacts = (caption, rows) =>
  html`<table class="facts"><caption>${caption}</caption><tbody>${rows.map(
    ([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`
  )}</tbody></table>`

/**
 * @param {string} id
 * @param {string} title
 * @param {string | null} about what the figures of the section cover
 * @param {...Content} content
 */
const makeSection = (id, title, about, ...content) =>
  html`<section id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>
${about !== null && html`<p class="about">${about}</p>`}${content}</section>
`

/**
 * Writes the longest time of a run. It has a `≤` if the process had a longer time before the run: the time
 * shown is then the upper bound.
 *
 * @param {{ isMostAtMost: boolean, maxMs: number }} times
 */
const atMost = ({ isMostAtMost, maxMs }) => `${isMostAtMost ? '≤ ' : ''}${duration(maxMs)}`

/**
 * Says whether figures cover exactly the run, a part of the run, or more than the run.
 *
 * @param {Run} run
 * @param {Times} times
 */
function coversOf(run, times) {
  return {
    run: 'Exactly this run: counters at its end minus those at its start.',
    minute: `Only the last minute, from ${times.time(run.minuteFrom)} on, because the counters at the start of the run are not known.`,
    process: `Since the process started, ${times.moment(run.startedAt)}, and not only this run. The counters at the start of the run are not known.`,
  }
}

module.exports = { atMost, coversOf, makeFacts, makeSection, makeTable }
