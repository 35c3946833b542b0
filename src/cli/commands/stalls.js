'use strict'
// `spillway stalls`: what has blocked the event loop, the costliest place first, with its stack.

const { EXIT } = require('../command-error')
const { duration, routeName, timeOfDay } = require('../../core/readable')
const { jsonLines, printable, wrap, wrapIndented } = require('../printable-text')
const { nextOfStall } = require('../next-steps')

/**
 * @import { StallSite, StallsSnapshot } from '../../../index.js'
 * @import { AdminClient, Blocked } from '../admin-client'
 * @import { Paint } from '../output'
 * @typedef {{ paint: Paint, width: number, url: string }} Where width: of a line; url: of the service
 */

const MAX_FRAMES = 8

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
  async run({ client, values, out, err }) {
    const { answer, note } = await client.askEither(stallsOfProcess, stallsOfWatcher)
    if (note !== undefined) (values.json ? err : out).print([note, ''])
    out.print(
      values.json
        ? jsonLines(answer, out)
        : stallLines(answer, { paint: out.paint, width: out.lineWidth, url: client.url })
    )
    return EXIT.done
  },
}

/**
 * @typedef {StallsSnapshot & { blocked?: Blocked | null }} Stalls `blocked`: what blocks the loop now, as
 *   reported by the thread that watches the loop
 */

/** @param {AdminClient} client @returns {Promise<Stalls>} */
const stallsOfProcess = async (client) => (await client.getJson('/snapshot')).stalls

/** @param {AdminClient} client @returns {Promise<Stalls>} */
async function stallsOfWatcher(client) {
  const { blocked, told } = await client.getJson('/stalls')
  return { ...(told ?? { count: 0, totalMs: 0, sites: [] }), blocked }
}

/**
/** @param {Stalls} found @param {Where} where */
function stallLines({ blocked, ...found }, where) {
  const before = sumLines(found, where)
  return blocked == null ? before : [...blockedLines(blocked, where), '', ...before]
}

/** @param {Blocked} blocked @param {Where} where */
function blockedLines({ blockedMs, ...now }, { paint, width }) {
  const place =
    now.frames === undefined
      ? now.asleepIn
      : placeOf({ cause: 'javascript', call: null, origin: null, ...now })
  return [
    paint('red', `Blocked now, for ${duration(blockedMs)}:`),
    ...wrap(place, width).map((line) => paint('bold', line)),
    ...frameLines(now.frames ?? [], paint),
  ]
}

/** @param {StallsSnapshot} found @param {Where} where */
function sumLines({ count, totalMs, sites }, where) {
  if (count === 0) return ['Nothing has blocked the event loop since the start.']
  const head = `Blocked ${timesOf(count)} since the start, for ${duration(totalMs)} in total. The costliest place first.`
  return [...wrap(head, where.width), ...sites.flatMap((site) => ['', ...siteLines(site, where)])]
}

/** @param {StallSite} site @param {Where} where */
function siteLines(site, { paint, width, url }) {
  const { count, totalMs, maxMs, lastAt, frames } = site
  const sums =
    count === 1
      ? `${duration(totalMs)}, at ${timeOfDay(lastAt)}`
      : `${timesOf(count)}, ${duration(totalMs)} in total, ${duration(maxMs)} at most, last at ${timeOfDay(lastAt)}`
  const next = nextOfStall(site, url)
  /** @param {string} text */
  const wrapped = (text) => wrapIndented(printable(text), width, '    ')
  return [
    ...wrap(placeOf(site), width).map((line) => paint('bold', line)),
    ...wrapped(sums),
    ...frameLines(frames, paint),
    ...(next === undefined ? [] : wrapped(`Next: ${next}`)),
  ]
}

/** @param {number} count */
const timesOf = (count) => (count === 1 ? 'once' : `${count} times`)

/** @param {readonly string[]} frames @param {Paint} paint */
function frameLines(frames, paint) {
  const shown = frames.slice(0, MAX_FRAMES).map((frame) => paint('dim', `      at ${printable(frame)}`))
  const left = frames.length - shown.length
  return left > 0 ? [...shown, paint('dim', `      and ${left} more`)] : shown
}

/**
 * @param {Pick<StallSite, 'call' | 'function' | 'file' | 'line' | 'package' | 'method' | 'route' |
 *   'origin'> & { cause: string }} site
 */
function placeOf(site) {
  const { call, cause, function: name, file, line, package: through, route, origin } = site
  const code =
    name === null
      ? cause
      : `${cause}: ${name} (${file}:${line})${through === null ? '' : ` through ${through}`}${call === null ? '' : ` calling ${call}`}`
  const where = route === null ? (origin === null ? '' : `, ${origin}`) : ` in ${routeName(site)}`
  return printable(code + where)
}

module.exports = { placeOf, stallLines, stalls, timesOf }
