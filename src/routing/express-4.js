'use strict'
// Paths of mount layers in Express 4: only the compiled expression is kept, with the names of its groups in order.
// So the path is read back from the expression, group by group: the text of a request never gets into a template.
// An expression the user gave is its own template.

const { pathText } = require('./route-node')

/** What Express 4 appends to every path it compiles for a mount. */
const COMPILED_END = '\\/?(?=\\/|$)'
/** A parameter with the slash or dot before it, as the compiler groups them. */
const PARAMETER = /^\(\?:(?:\\\.)?(?:\\\/)?\((?!\?)/
/** What stands for a parameter without a pattern of its own. */
const ANY_VALUE = /^\((?:\[\^\\?\/(?:\\\.)?\]\+\?|\(\?:\(\?!.*\)\.\)\+\?)\)$/
/** What a wildcard, and the star after a parameter, compile to. */
const ANY_REST = /^\((?:\.\*|\(\?:\[\\?\/(?:\\\.)?\]\.\+\?\)\?)\)$/

/** Before the user's: `query` and `expressInit`. */
const BUILT_IN_LAYERS = 2

const isRootMount = (layer) => layer.regexp.fast_slash === true

/** The template of a mount layer: a string, or for an array of paths a function of the part of the URL one took. */
function mountPath(layer) {
  const { source, flags } = layer.regexp
  if (!source.includes(COMPILED_END)) return String(layer.regexp)
  const names = layer.keys.map(({ name }) => name)
  const each = alternatives(source).map((one) => ({
    text: one.endsWith(COMPILED_END) ? pathOf(one, names) : expressionOf(one, flags, names),
    regexp: new RegExp(one, flags),
  }))
  if (each.length === 1) return each[0].text
  // The slash at the end of what was taken is not in `baseUrl`.
  return (taken) =>
    (each.find(({ regexp }) => regexp.test(taken) || regexp.test(`${taken}/`)) ?? each[0]).text
}

/** An array of paths is compiled to one expression of alternatives. */
function alternatives(source) {
  const found = []
  let start = 0
  for (let at = 0; at < source.length; at = after(source, at)) {
    if (source[at] !== '|') continue
    found.push(source.slice(start, at))
    start = at + 1
  }
  return [...found, source.slice(start)]
}

/** Where the escape, class, group or character at `at` is over. */
function after(source, at) {
  const first = source[at]
  if (first === '\\') return at + 2
  if (first !== '[' && first !== '(') return at + 1
  const last = first === '[' ? ']' : ')'
  let end = at + 1
  while (source[end] !== last) end = first === '[' && source[end] !== '\\' ? end + 1 : after(source, end)
  return end + 1
}

function expressionOf(source, flags, names) {
  names.splice(0, groupsIn(source))
  return String(new RegExp(source, flags.replace('i', '')))
}

const groupsIn = (source) => /** @type {RegExpExecArray} */ (new RegExp(`${source}|`).exec('')).length - 1

function pathOf(source, names) {
  return pathText(read(source.slice(1, -COMPILED_END.length), names))
}

/** @param {string[]} names of the groups from here on; each is taken off as its group is read */
function read(source, names) {
  let path = ''
  for (let at = 0; at < source.length; ) {
    const end = after(source, at)
    path += pieceOf(source.slice(at, end), names)
    at = end
  }
  return path
}

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

/** On the class of layers, once their rejections go to `next`; of any copy of this package. */
const kCatchesAsync = Symbol.for('spillway.catchesAsync')

module.exports = { BUILT_IN_LAYERS, kCatchesAsync, isRootMount, mountPath }
