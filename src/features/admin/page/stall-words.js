'use strict'
// How a place that blocked the event loop is named.

const { NONE, routeName } = require('../../../core/readable')

const REASONS = {
  __proto__: null,
  'garbage-collection': 'garbage collection',
  host: 'the machine gave the CPU to others',
  unknown: 'not seen: the watcher starts with the first stall',
}

const nameOf = ({ function: name, cause }) => name ?? REASONS[cause] ?? '(anonymous)'
const fileOf = ({ file, line }) => (file === null ? '' : `${file.split('/').slice(-2).join('/')}:${line}`)
const ORIGINS = { __proto__: null, background: 'in the background', startup: 'at startup' }
const originOf = ({ route, method, origin }) =>
  route === null ? (ORIGINS[origin] ?? NONE) : routeName({ route, method })

module.exports = { fileOf, nameOf, originOf }
