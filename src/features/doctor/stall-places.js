'use strict'
// The code locations of stalls: how they are named, and what to do about them.

const { adviceForCall } = require('./blocking-calls')
const { bytes, routeName } = require('../../core/readable')

/** @import { Figures, StallFigures } from './figures' */

const ANONYMOUS = '(anonymous)'

/**
 * Returns the places, the costliest first. One place may have stalls of two causes, which are merged.
 *
 * @param {Figures} figures
 * @returns {StallFigures[]}
 */
function placesOf({ stalls }) {
  /** @type {Map<string, StallFigures>} */
  const places = new Map()
  for (const site of stalls?.sites ?? []) {
    if (site.cause !== 'javascript' && site.cause !== 'native') continue
    const { file, function: name, line, method, origin, route } = site
    const key = [file, name === ANONYMOUS ? line : name, method, route, origin].join('\n')
    const known = places.get(key)
    places.set(key, known === undefined ? site : merged(known, site))
  }
  return [...places.values()].sort((a, b) => b.ms - a.ms)
}

/**
 * The call of the smaller site is shown only if that site has more stalls.
 *
 * @param {StallFigures} larger @param {StallFigures} other
 * @returns {StallFigures}
 */
const merged = (larger, other) => ({
  ...(larger.call === null && other.call !== null && other.count > larger.count
    ? { ...other, line: larger.line }
    : larger),
  count: larger.count + other.count,
  totalMs: larger.totalMs + other.totalMs,
  ms: larger.ms + other.ms,
})

/**
 * Returns what to do about the costliest place of a route, as a separate sentence.
 *
 * @param {Figures} figures
 * @param {string | null} route
 */
function adviceWithin(figures, route) {
  const place = placesOf(figures).find((each) => each.route !== null && routeName(each) === route)
  return place === undefined ? '' : ` ${adviceForPlace(place, null)}`
}

/**
 * The package's name stands in for an anonymous function, because functions of packages are often anonymous.
 *
 * @param {StallFigures} site
 */
const nameOf = ({ function: name, package: from }) => (name === ANONYMOUS && from) || (name ?? ANONYMOUS)

/** @param {StallFigures} site */
function functionName(site) {
  const { file, line } = site
  return `${nameOf(site)}${file === null ? '' : ` (${String(file).split('/').pop()}:${line})`}`
}

/** @param {StallFigures} site */
const callText = ({ call, bodyBytes }) =>
  call === null ? '' : ` calling ${call}${bodyBytes === null ? '' : ` with a body of ${bytes(bodyBytes)}`}`

/** Frames between Node's timers and a callback that is not the timer's own. */
const OF_TICKS = /^(?:runNextTicks|processTicksAndRejections) /

/**
 * Whether Node's timers called the code that blocked.
 *
 * @param {StallFigures} site
 */
function isOfTimer({ frames, origin }) {
  const at = frames.findIndex((frame) => frame.startsWith('listOnTimeout (node:internal/'))
  return origin === 'background' && at > 0 && !OF_TICKS.test(frames[at - 1])
}

/**
 * What ran the code of a place without a route, such as 'a timer' or 'the background'.
 *
 * @param {StallFigures} site
 */
const originText = (site) => (isOfTimer(site) ? 'a timer' : `the ${site.origin}`)

/** @param {StallFigures} site @param {string | null} route */
const adviceForPlace = (site, route) =>
  `${nameOf(site)}${route === null ? '' : ` in ${route}`}: ${adviceForCall(site) ?? 'split its work up, or move the work to a worker thread'}.`

module.exports = { adviceForPlace, adviceWithin, callText, functionName, isOfTimer, originText, placesOf }
