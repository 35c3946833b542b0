'use strict'
// The paths of mount layers in Express 4, which keeps only the compiled expression and the names of its
// groups. The template is read back from the expression, group by group, so that no text of a request gets
// into it. If the user gave an expression, the expression itself is the template.

const { pathText } = require('./route-node')

/** @import { Layer } from './instrument-router' */

/** Suffix that Express 4 appends to every path it compiles for a mount. */
const COMPILED_END = '\\/?(?=\\/|$)'
/** A parameter grouped with the slash or dot before it. */
const PARAMETER = /^\(\?:(?:\\\.)?(?:\\\/)?\((?!\?)/
/** A parameter without a custom pattern. */
const ANY_VALUE = /^\((?:\[\^\\?\/(?:\\\.)?\]\+\?|\(\?:\(\?!.*\)\.\)\+\?)\)$/
/** A wildcard, or the star after a parameter. */
const ANY_REST = /^\((?:\.\*|\(\?:\[\\?\/(?:\\\.)?\]\.\+\?\)\?)\)$/

/** `query` and `expressInit`, which Express adds first. */
const BUILT_IN_LAYERS = 2

/** @param {Layer} layer */
const isRootMount = (layer) => layer.regexp.fast_slash === true

/**
 * Returns the template of a mount layer. For an array of paths, returns a function that gives the template
 * for the matched part of a URL.
 * @param {Layer} layer
 * @returns {string | ((taken: string) => string)}
 */
function mountPath(layer) {
  const { source, flags } = layer.regexp
  if (!source.includes(COMPILED_END)) return String(layer.regexp)
  const names = layer.keys.map(({ name }) => name)
  const each = alternatives(source).map((alternative) => ({
    text: alternative.endsWith(COMPILED_END)
      ? pathOf(alternative, names)
      : expressionOf(alternative, flags, names),
    regexp: new RegExp(alternative, flags),
  }))
  if (each.length === 1) return each[0].text
  // `baseUrl` lacks the slash at the end of the match.
  return (taken) =>
    (each.find(({ regexp }) => regexp.test(taken) || regexp.test(`${taken}/`)) ?? each[0]).text
}

/** Express compiles an array of paths to one expression of alternatives. @param {string} source */
function alternatives(source) {
  const found = []
  let start = 0
  for (let at = 0; at < source.length; at = endOf(source, at)) {
    if (source[at] !== '|') continue
    found.push(source.slice(start, at))
    start = at + 1
  }
  return [...found, source.slice(start)]
}

/**
 * Returns the end of the escape, class, group or character at `at`.
 *
 * @param {string} source
 * @param {number} at
 * @returns {number}
 */
function endOf(source, at) {
  const first = source[at]
  if (first === '\\') return at + 2
  if (first !== '[' && first !== '(') return at + 1
  const last = first === '[' ? ']' : ')'
  let end = at + 1
  while (source[end] !== last) end = first === '[' && source[end] !== '\\' ? end + 1 : endOf(source, end)
  return end + 1
}

/** @param {string} source @param {string} flags @param {(string | number)[]} names */
function expressionOf(source, flags, names) {
  names.splice(0, groupsIn(source))
  return String(new RegExp(source, flags.replace('i', '')))
}

/** @param {string} source */
const groupsIn = (source) => /** @type {RegExpExecArray} */ (new RegExp(`${source}|`).exec('')).length - 1

/** @param {string} source @param {(string | number)[]} names */
function pathOf(source, names) {
  return pathText(read(source.slice(1, -COMPILED_END.length), names))
}

/**
 * @param {string} source
 * @param {(string | number)[]} names of the groups to come; each is removed when its group is read
 * @returns {string}
 */
function read(source, names) {
  let path = ''
  for (let at = 0; at < source.length; ) {
    const end = endOf(source, at)
    path += pieceOf(source.slice(at, end), names)
    at = end
  }
  return path
}

/** @param {string} piece @param {(string | number)[]} names */
function pieceOf(piece, names) {
  if (piece === '\\/' || piece === '\\.') return piece[1]
  if (piece[0] !== '(') return piece
  if (piece.startsWith('(?:')) {
    const inner = read(piece.slice(3, -1), names)
    return PARAMETER.test(piece) ? inner : `(${inner})`
  }
  const [name] = names.splice(0, groupsIn(piece))
  if (typeof name !== 'string') return ANY_REST.test(piece) ? '*' : piece
  return ANY_VALUE.test(piece) ? `:${name}` : `:${name}${piece}`
}

/**
 * Any copy of this package sets this property on the layer class, once layers pass promise rejections to
 * `next`.
 */
const kCatchesAsync = Symbol.for('spillway.catchesAsync')

module.exports = { BUILT_IN_LAYERS, kCatchesAsync, isRootMount, mountPath }
