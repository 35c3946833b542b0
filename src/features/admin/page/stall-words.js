'use strict'
// Names a place in the code that blocked the event loop.

const { NONE, bytes, routeName } = require('../../../core/readable')

/** @import { StallSite } from '../../../../index.js' */

/** @type {Record<string, string | null>} */
const REASONS = {
  __proto__: null,
  'garbage-collection': 'garbage collection',
  host: 'other processes used the CPU',
  unknown: 'not known: Spillway begins to watch the loop at its first stall',
}

/** @param {Pick<StallSite, 'function' | 'cause'>} site */
const nameOf = ({ function: name, cause }) => name ?? REASONS[cause] ?? '(anonymous)'
/** @param {Pick<StallSite, 'file' | 'line'>} site */
const fileOf = ({ file, line }) => (file === null ? '' : `${file.split('/').slice(-2).join('/')}:${line}`)
/**
 * The blocking call inside the function, such as `calling fs.readFileSync`; empty if unknown.
 *
 * @param {Pick<StallSite, 'call' | 'bodyBytes'>} site
 */
const callOf = ({ call, bodyBytes }) =>
  call == null ? '' : `calling ${call}${bodyBytes == null ? '' : ` with a body of ${bytes(bodyBytes)}`}`
/** @type {Record<string, string | null>} */
const ORIGINS = { __proto__: null, background: 'in the background', startup: 'at startup' }
/** @param {Pick<StallSite, 'route' | 'method' | 'origin'>} site */
const originOf = ({ route, method, origin }) =>
  route === null ? (ORIGINS[/** @type {string} */ (origin)] ?? NONE) : routeName({ route, method })

module.exports = { callOf, fileOf, nameOf, originOf }
