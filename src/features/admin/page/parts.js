'use strict'
// Shows where the time of requests went: a bar of coloured parts, and the same in words.

const { make, setChildren, setStyle } = require('./dom')
const { NONE, duration, percent } = require('../../../core/readable')
const { IN_PROXY, PARTS, msOf, sumOf } = require('./part-list')

/** @import { RequestParts } from '../../../../index.js' */

/**
 * @param {HTMLElement} cell
 * @param {RequestParts | null | undefined} parts `null` if parts are not measured
 * @param {number} [width] the share of the cell that the bar takes
 */
function fillBar(cell, parts, width = 1) {
  const total = parts === null || parts === undefined ? 0 : sumOf(parts)
  const shares = PARTS.map((part) =>
    total === 0 ? 0 : msOf(/** @type {RequestParts} */ (parts), part) / total
  )
  const key = shares.map((share) => share.toFixed(3)).join() + width.toFixed(3)
  setChildren(cell, key, () =>
    total === 0 ? [NONE] : [makeBar(shares, width), make('span', { class: 'unseen' }, inWords(shares))]
  )
}

/** @param {number[]} shares @param {number} width */
function makeBar(shares, width) {
  const bar = make('span', { class: 'bar', 'aria-hidden': 'true', title: inWords(shares) })
  setStyle(bar, { width: `${Math.max(1, width * 100)}%` })
  for (const [i, share] of shares.entries()) {
    if (share < 0.004) continue
    bar.append(make('span', { class: `part-${PARTS[i].key}`, style: { width: `${share * 100}%` } }))
  }
  return bar
}

/** @param {number[]} shares */
const inWords = (shares) =>
  PARTS.map(({ name }, i) => ({ name, share: shares[i] }))
    .filter(({ share }) => share >= 0.005)
    .sort((a, b) => b.share - a.share)
    .map(({ name, share }) => `${name} ${percent(share)}`)
    .join(', ')

/** Makes the legend of the colours. */
const makeLegend = () =>
  make(
    'p',
    { class: 'legend' },
    ...PARTS.map(({ key, name, about }) =>
      make(
        'span',
        { class: 'key', title: about },
        make('i', { class: `part-${key}`, 'aria-hidden': 'true' }),
        name
      )
    )
  )

/**
 * @param {RequestParts & { proxyMs?: number }} parts
 * @param {number} [requests] number of requests whose means are shown
 */
const makePartsTable = (parts, requests = 1) =>
  make(
    'table',
    { class: 'small' },
    make('caption', null, requests === 1 ? 'Where the time went' : 'Mean of a request'),
    make(
      'tbody',
      null,
      ...PARTS.map((part) =>
        make(
          'tr',
          null,
          make(
            'th',
            { scope: 'row', title: part.about },
            make('i', { class: `part-${part.key}`, 'aria-hidden': 'true' }),
            part.name
          ),
          make('td', null, duration(msOf(parts, part) / Math.max(1, requests)))
        )
      ),
      parts.proxyMs
        ? make(
            'tr',
            null,
            make('th', { scope: 'row', title: IN_PROXY.about }, IN_PROXY.name),
            make('td', null, duration(parts.proxyMs / Math.max(1, requests)))
          )
        : null
    )
  )

module.exports = { fillBar, makeLegend, makePartsTable }
