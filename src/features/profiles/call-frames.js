'use strict'
// Converts V8's call frames to what a person reads: function, file, line and package. Names in parentheses
// are not packages: `(node)` is Node itself, `(v8)` is V8's own work.

const { pathOf } = require('../../core/call-place')
const { isOfNode, isOwn, packageOf, shown } = require('../../core/stack-frames')

const NODE = '(node)'
const ENGINE = '(v8)'
const OWN = 'spillway'
const NO_SCRIPT = '0'
/** Files whose functions run only for the profile. */
const MEASURING = /[/\\]src[/\\]features[/\\]profiles[/\\][\w-]+\.js$/
/** V8's names for entries that are not functions. */
const ENGINE_NAMES = new Set(['(root)', '(idle)', '(program)', '(garbage collector)'])

/**
 * @typedef {{ functionName: string, scriptId: string, url: string, lineNumber: number,
 *   columnNumber: number }} CallFrame
 * @typedef {{ name: string, file: string | null, line: number | null, package: string | null, path: string,
 *   isNode: boolean, isNative: boolean }} Frame package: null for the application; isNative: of a function
 *   without a script, such as one in C++; false for entries of V8 itself
 */

/** @param {string} name @returns {Frame} */
const ofEngine = (name) => ({
  name,
  file: null,
  line: null,
  package: ENGINE,
  path: '',
  isNode: false,
  isNative: false,
})
const PROFILER = ofEngine('(profiler)')

class CallFrames {
  /** @type {Map<string, Frame>} */
  #byPlace = new Map()
  #sources

  /** @param {import('./profile-work').Sources} [sources] */
  constructor(sources = new Map()) {
    this.#sources = sources
  }

  /** Every call of one function has the same frame. @param {CallFrame} callFrame @returns {Frame} */
  of(callFrame) {
    const place = placeKey(callFrame)
    const known = this.#byPlace.get(place)
    if (known !== undefined) return known
    const frame = describe(callFrame, this.#sources.get(place))
    this.#byPlace.set(place, frame)
    return frame
  }
}

/** @param {CallFrame} callFrame */
const placeKey = ({ functionName, scriptId, lineNumber, columnNumber }) =>
  `${scriptId}:${lineNumber}:${columnNumber}:${functionName}`

/** @param {CallFrame} callFrame @param {{ path: string, line: number } | undefined} source @returns {Frame} */
function describe({ functionName, scriptId, url, lineNumber }, source) {
  const name = functionName || '(anonymous)'
  if (ENGINE_NAMES.has(name)) return ofEngine(name)
  const { path, line } = source ?? { path: pathOf(url), line: lineNumber + 1 }
  if (scriptId === NO_SCRIPT)
    return { name, file: null, line: null, package: NODE, path, isNode: true, isNative: true }
  if (isOwn({ path }) && MEASURING.test(path)) return PROFILER
  const isNode = isOfNode(path)
  return {
    name,
    file: shown(path),
    line,
    package: isNode ? NODE : ownerOf(path),
    path,
    isNode,
    isNative: false,
  }
}

/** @param {string} path */
const ownerOf = (path) => (isOwn({ path }) ? OWN : packageOf(path))

exports.CallFrames = CallFrames
exports.placeKey = placeKey
exports.ENGINE = ENGINE
exports.NODE = NODE
exports.OWN = OWN
