'use strict'
// `spillway stalls`: what has blocked the event loop, the costliest place first, with its stack.

const { EXIT } = require('../command-error')
const { duration, routeName, timeOfDay } = require('../../core/readable')
const { jsonLines, printable } = require('../printable-text')
const { nextOfStall } = require('../next-steps')

/**
 * @import { StallSite, StallsSnapshot } from '../../../index.js'
 * @import { Paint } from '../output'
 */

const MOST_FRAMES = 8

/** @type {import('../commands').Command} */
const stalls = {
  name: 'stalls',
  about: 'what has blocked the event loop: function, file, line, route and stack',
  options: {},
  examples: [
    ['spillway stalls', 'of the service at port 9464'],
    ['spillway stalls http://10.0.0.7:9464', 'of another machine'],
    ['spillway stalls --json | jq .sites[0].frames', 'the stack of the costliest place'],
  ],
  async run({ client, values, out }) {
    const { stalls: found } = await client.getJson('/snapshot')
    out.print(values.json ? jsonLines(found, out) : stallLines(found, out.paint, client.url))
    return EXIT.done
  },
}

/**
 * @param {StallsSnapshot} found
 * @param {Paint} paint
 * @param {string} url of the service
 */
function stallLines({ count, totalMs, sites }, paint, url) {
  if (count === 0) return ['Nothing has blocked the event loop since the start.']
  const times = count === 1 ? 'once' : `${count} times`
  const head = `Blocked ${times} since the start, for ${duration(totalMs)} in all. The costliest place first.`
  return [head, ...sites.flatMap((site) => ['', ...siteLines(site, paint, url)])]
}

/** @param {StallSite} site @param {Paint} paint @param {string} url of the service */
function siteLines(site, paint, url) {
  const { count, totalMs, maxMs, lastAt, frames } = site
  const sums =
    count === 1
      ? `${duration(totalMs)}, at ${timeOfDay(lastAt)}`
      : `${count} times, ${duration(totalMs)} in all, ${duration(maxMs)} at most, last at ${timeOfDay(lastAt)}`
  const shown = frames.slice(0, MOST_FRAMES).map((frame) => paint('dim', `      at ${printable(frame)}`))
  const next = nextOfStall(site, url)
  const left = frames.length - shown.length
  return [
    paint('bold', placeOf(site)),
    `    ${sums}`,
    ...shown,
    ...(left > 0 ? [paint('dim', `      and ${left} more`)] : []),
    ...(next === undefined ? [] : [`    Next: ${printable(next)}`]),
  ]
}

/** @param {StallSite} site */
function placeOf(site) {
  const { cause, function: name, file, line, package: through, route, origin } = site
  const code =
    name === null
      ? cause
      : `${cause}: ${name} (${file}:${line})${through === null ? '' : ` through ${through}`}`
  const where = route === null ? (origin === null ? '' : `, ${origin}`) : ` in ${routeName(site)}`
  return printable(code + where)
}

module.exports = { placeOf, stallLines, stalls }
