'use strict'
// Stalls of the event loop, by code location.

const { make, setChildren } = require('./dom')
const { count, duration, timeOfDay } = require('../../../core/readable')
const { callOf, fileOf, nameOf, originOf } = require('./stall-words')
const { Table } = require('./table')

/**
 * @import { StallSite } from '../../../../index.js'
 * @import { Section } from './main'
 */

/** @param {HTMLElement} cell @param {StallSite} site */
const fillPlace = (cell, site) =>
  setChildren(cell, `${nameOf(site)} ${fileOf(site)} ${callOf(site)}`, () => [
    `${nameOf(site)} `,
    make('span', { class: 'faint' }, fileOf(site)),
    ...(callOf(site) === '' ? [] : [' ', make('span', { class: 'call' }, callOf(site))]),
  ])

/** @returns {Section} */
function stallsSection() {
  /** @type {Table<StallSite>} */
  const table = new Table({
    caption: 'Stalls of the event loop, by code location',
    columns: [
      { title: 'Function', isText: true, fill: fillPlace },
      { title: 'In', isText: true, text: originOf },
      { title: 'Cause', isText: true, text: ({ cause }) => cause.replace('-', ' ') },
      { title: 'stalls', sort: (site) => site.count, text: (site) => count(site.count) },
      { title: 'in sum', sort: ({ totalMs }) => totalMs, text: ({ totalMs }) => duration(totalMs) },
      { title: 'longest', sort: ({ maxMs }) => maxMs, text: ({ maxMs }) => duration(maxMs) },
      { title: 'last', sort: ({ lastAt }) => Date.parse(lastAt), text: ({ lastAt }) => timeOfDay(lastAt) },
    ],
    keyOf: ({ cause, function: name, file, line, route, method, origin, package: from }) =>
      [cause, name, file, line, route, method, origin, from].join('\n'),
    empty: 'The event loop has not stalled: no loop turn took longer than the threshold.',
    detail: makeDetail,
    sortedBy: 4,
    most: 8,
  })
  return {
    id: 'stalls',
    title: 'Stalls',
    isWide: true,
    content: [table.element],
    isEmpty: ({ snapshot }) => snapshot.stalls.sites.length === 0,
    update: ({ snapshot }) => table.update(snapshot.stalls.sites),
  }
}

/** @param {StallSite} site */
function makeDetail(site) {
  const { cause, frames, file, line, package: from } = site
  if (frames.length === 0) {
    const isOurs = cause !== 'host' && cause !== 'garbage-collection'
    const words = isOurs
      ? 'No stack was read. The next stall of this kind will show one.'
      : 'No function of the application did this.'
    return make('p', { class: 'faint' }, words)
  }
  return make(
    'div',
    { class: 'stack' },
    make(
      'p',
      null,
      `${file}:${line}`,
      from === null ? null : `, in a call to ${from}`,
      callOf(site) === '' ? null : `, ${callOf(site)}`
    ),
    make('ol', null, ...frames.map((frame) => make('li', null, make('code', null, frame))))
  )
}

module.exports = { stallsSection }
