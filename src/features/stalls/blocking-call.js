'use strict'
// Finds the call that blocked the loop: a function of Node or V8, such as `fs.readFileSync` or `RegExp.test`.
// Most of these calls leave no frame. V8 reads the stack during a regular expression, a sort or
// `JSON.stringify`, and during other calls only when the call is over. In that case, the source is searched
// for the last such call before the place that was read. Only native code has run since that call.

const { readFileSync, statSync } = require('node:fs')
const { packageOf, isOfNode } = require('../../core/stack-frames')
const { pathOf } = require('../../core/call-place')

/**
 * @import { RequestRecord } from '../../core/request/request-record'
 * @import { Frame } from '../../core/stack-frames'
 * @typedef {{ name: string, frames?: readonly Frame[] }} Call `frames`: the stack at the call, if the call
 *   was over when the stack was read
 */

/** Functions of V8 whose stack can be read while they run. */
const INTERRUPTED =
  /^(?:RegExp\b|JSON\.stringify|(?:\w*Array|Function)\.|(?:Map|Set)\.forEach|String\.(?:match|matchAll|replace|replaceAll|search|split))/
const ON_EXPRESSION = /^(?:RegExp\b|String\.)/
/** Functions whose stack is read late on a busy host, which makes them look native */
const READ_LATE = /^(?:RegExp\b|String\.|\w*Array\.)/
/**
 * Calls that V8 cannot interrupt, as they are written in source code. `local` matches any other function,
 * which may have made one of these calls.
 */
const CALLS =
  /(?<![\w$.])(?:(?:[\w$]+\.)*[\w$]+Sync|JSON\.parse|JSON\.stringify|structuredClone|(?:[\w$]+\.)?randomBytes|(?<local>[\w$]+))(?=\s*\()|(?<=\.)(?:sort|toSorted|update)(?=\s*\()/g
/** Methods that are written without their class. @type {Readonly<Record<string, string>>} */
const METHODS = { sort: 'Array.sort', toSorted: 'Array.toSorted', update: 'Hash.update' }
const COMMENTS = /\/\*[\s\S]*?\*\/|(?<![:\\'"`])\/\/.*$/gm
/**
 * All lines up to the last line with an `await`. They ran in an earlier turn. An `await` in the line of the
 * call itself has not happened yet.
 */
const AWAITED = /^[\s\S]*\bawait\b.*\n/
/** Parsers of request bodies. Their call of `JSON.parse` is in a function that has ended. */
const BODY_PARSERS = new Set(['body-parser', 'co-body', 'secure-json-parse'])
/** Node's files whose functions belong to a public module. */
const PUBLIC_MODULE = /^(?:internal\/)?(crypto|fs|console|zlib|child_process|dns|vm)\b/
const LARGEST_SOURCE_BYTES = 1e6
/** Longest text of a function. Minified code has larger functions, and they say nothing. */
const LARGEST_TEXT = 20_000
const MAX_CALLS = 4
/** Most lines to look for the arguments of a call. */
const MAX_LINES = 20
const MAX_SOURCES = 20
const MAX_SHOWN = 80
/** A smaller body cannot be the cause: parsing blocks the loop this long only with megabytes. */
const MIN_BODY_BYTES = 100_000

/** @type {Map<string, string[]>} */
const sources = new Map()

/**
 * @param {readonly Frame[]} frames the innermost first
 * @param {boolean} isNative whether V8 could not read the stack in time
 * @returns {Call | undefined} undefined if JavaScript itself ran, or the call is unknown
 */
function blockingCall(frames, isNative) {
  const at = frames.findIndex(({ url }) => !isInternal(url))
  if (at === -1) return undefined
  const [frame, called] = [frames[at], frames[at - 1]]
  const isOfV8 = called?.url === ''
  if (called !== undefined && !isOfV8) return { name: callAt(frame) ?? nameOf(called) }
  const before = isNative ? callBefore(frames.slice(at)) : undefined
  if (before !== undefined) return before
  // The caller may be V8 too, such as `sort` with a callback.
  const isNamed = isOfV8 && (isNative ? READ_LATE : INTERRUPTED).test(called.name)
  const builtin = isNamed ? called : frames[at + 1]
  if (builtin?.url !== '' || !INTERRUPTED.test(builtin.name)) return undefined
  const expression = builtin === called && ON_EXPRESSION.test(builtin.name) ? expressionAt(frame) : undefined
  return { name: expression === undefined ? builtin.name : `${builtin.name} of ${expression}` }
}

/** @param {string} url */
const isInternal = (url) => isOfNode(pathOf(url))

/** @param {Frame} frame of Node */
function nameOf({ name, url }) {
  const [, module] = PUBLIC_MODULE.exec(url.replace('node:', '')) ?? []
  const own = name.split('.').pop()
  return module === undefined ? String(own) : `${module}.${own}`
}

/**
 * The last call of the function before the place that was read.
 *
 * @param {readonly Frame[]} frames
 * @returns {Call | undefined}
 */
function callBefore([frame, ...callers]) {
  const lines = linesOf(frame.url)
  const text = lines && textBefore(frame, lines)
  for (const found of text === undefined ? [] : callsIn(text).slice(0, MAX_CALLS)) {
    const place = { ...frame, ...positionIn(/** @type {string} */ (text), found.index, frame.begin) }
    if (found.name !== undefined) return { name: found.name, frames: [place, ...callers] }
    const inner = callWithin(found.local, /** @type {string[]} */ (lines))
    if (inner === undefined) continue
    return { name: inner.name, frames: [{ ...frame, ...inner.place, name: found.local }, place, ...callers] }
  }
  return BODY_PARSERS.has(packageOf(pathOf(frame.url)) ?? '') ? { name: 'JSON.parse' } : undefined
}

/**
 * The calls in a text, sorted by their ends, the last first. A call in an argument ends before the call that
 * gets the argument.
 *
 * @param {string} text
 * @returns {{ index: number, name: string | undefined, local: string }[]}
 */
function callsIn(text) {
  return [...text.matchAll(CALLS)]
    .map(({ 0: written, index, groups }) => ({
      index,
      end: endOfCall(text, index + written.length),
      name: groups?.local === undefined ? (METHODS[written] ?? written) : undefined,
      local: groups?.local ?? '',
    }))
    .filter(({ end }) => end !== -1)
    .sort((a, b) => b.end - a.end)
}

/**
 * @param {string} text
 * @param {number} from before the opening parenthesis
 * @returns {number} -1 if the text ends first
 */
function endOfCall(text, from) {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    if (text[at] === '(') depth++
    else if (text[at] === ')' && --depth === 0) return at
  }
  return -1
}

/**
 * The last call in a function that has returned.
 *
 * @param {string} name
 * @param {readonly string[]} lines of its file
 */
function callWithin(name, lines) {
  const head = new RegExp(
    String.raw`^(\s*)(?:export\s+)?(?:function\s+${escaped(name)}\s*\(|(?:const|let|var)\s+${escaped(name)}\s*=\s*(?:function\b|\(|[\w$]+\s*=>))`
  )
  // Takes 3.5 ms of CPU for four functions in a source of 800 kB, and 0.01 ms in a usual source.
  const begin = lines.findIndex((line) => line.includes(name) && head.test(line))
  if (begin === -1) return undefined
  const indent = /** @type {RegExpExecArray} */ (head.exec(lines[begin]))[1]
  const end = lines.findIndex((line, i) => i >= begin && line.startsWith(`${indent}}`))
  const isOneLine = /[;})]\s*$/.test(lines[begin])
  const text = withoutComments(lines.slice(begin, isOneLine ? begin + 1 : end + 1).join('\n'))
  const found = callsIn(text.slice(0, LARGEST_TEXT)).find((call) => call.name !== undefined)
  if (found?.name === undefined || /\bawait\b/.test(text)) return undefined
  return { name: found.name, place: { ...positionIn(text, found.index, begin + 1), begin: begin + 1 } }
}

/** @param {string} name */
const escaped = (name) => name.replaceAll('$', '\\$')

/**
 * @param {string} text
 * @param {number} index
 * @param {number} begin the line of its file that the text begins with
 */
function positionIn(text, index, begin) {
  const before = text.slice(0, index).split('\n')
  return { line: begin + before.length - 1, column: before[before.length - 1].length }
}

/**
 * The function that is being called, as it is written. The frames of Node show its inner functions.
 *
 * @param {Frame} frame
 */
function callAt({ url, line, column }) {
  const text = linesOf(url)?.[line - 1] ?? ''
  let from = column
  while (from > 0 && /[\w$.]/.test(text[from - 1])) from--
  const [written] = /^[\w$.]*/.exec(text.slice(from)) ?? ['']
  return written.endsWith('Sync') || written.startsWith('console.') ? written : undefined
}

/**
 * Returns the text of the function that has run since its start or its last `await`. It includes the
 * arguments of the call that is being made.
 *
 * @param {Frame} frame @param {readonly string[]} lines
 */
function textBefore({ begin, line, column }, lines) {
  // A loader may have changed the text before it ran.
  if (begin < 1 || begin > line || !(lines[line - 1]?.length > column)) return undefined
  const text = withoutComments(lines.slice(begin - 1, line - 1 + MAX_LINES).join('\n'))
  const at = lines.slice(begin - 1, line - 1).reduce((sum, { length }) => sum + length + 1, column)
  if (at > LARGEST_TEXT) return undefined
  const before = text.slice(0, at).replace(AWAITED, (awaited) => awaited.replace(/[^\n]/g, ' '))
  const [head] = /^[\w$]*\s*\(/.exec(text.slice(at, at + LARGEST_TEXT)) ?? []
  if (head === undefined) return before
  const args = text.slice(at + head.length, endOfCall(text, at + head.length - 1))
  return before + head.replace(/[^\n]/g, ' ') + args
}

/** @param {string} text */
const withoutComments = (text) => text.replace(COMMENTS, (comment) => comment.replace(/[^\n]/g, ' '))

/** A longer regular expression is not shown. */
const LONGEST = 300
const LITERAL = String.raw`\/(?![*\/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^\/\\\n\[])+\/[a-z]*`
const BEFORE = new RegExp(`(${LITERAL}|[\\w$]+)\\s*\\.\\s*$`)
const FIRST_ARGUMENT = new RegExp(`^\\w+\\(\\s*(${LITERAL}|[\\w$]+)\\s*[,)]`)

/**
 * The regular expression, if it is written in the call, or as a constant of the same file.
 *
 * @param {Frame} frame
 */
function expressionAt({ url, line, column }) {
  const lines = linesOf(url)
  const text = lines?.[line - 1]
  if (lines === undefined || text === undefined) return undefined
  const rest = text.slice(column, column + LONGEST)
  const isOfExpression = /^(?:test|exec)\b/.test(rest)
  const found = isOfExpression
    ? BEFORE.exec(text.slice(Math.max(0, column - LONGEST), column))
    : FIRST_ARGUMENT.exec(rest)
  const word = found?.[1]
  if (word === undefined) return undefined
  const literal = word.startsWith('/') ? word : literalOf(word, lines)
  return literal !== undefined && literal.length > MAX_SHOWN ? `${literal.slice(0, MAX_SHOWN)}...` : literal
}

/** @param {string} name @param {readonly string[]} lines */
function literalOf(name, lines) {
  const assigned = new RegExp(`(?<![\\w$.])${escaped(name)}\\s*=\\s*(${LITERAL})`)
  for (const line of lines) {
    const literal = assigned.exec(line)?.[1]
    if (literal !== undefined) return literal
  }
  return undefined
}

/**
 * Reads a file once. The reading takes a hundredth of the stall that it names.
 *
 * @param {string} url
 * @returns {string[] | undefined}
 */
function linesOf(url) {
  const path = pathOf(url)
  const known = sources.get(path)
  if (known !== undefined) return known.length === 0 ? undefined : known
  if (sources.size === MAX_SOURCES) sources.clear()
  const lines = readLines(path)
  sources.set(path, lines)
  return lines.length === 0 ? undefined : lines
}

/** @param {string} path @returns {string[]} empty if the file cannot be read or is too large */
function readLines(path) {
  try {
    return statSync(path).size > LARGEST_SOURCE_BYTES ? [] : readFileSync(path, 'utf8').split('\n')
  } catch {
    return []
  }
}

/**
 * The size of the body that was parsed or made; null if unknown or too small.
 *
 * @param {string | undefined} call
 * @param {RequestRecord | undefined} request
 */
function bodyBytesOf(call, request) {
  if (request === undefined || !(call === 'JSON.parse' || call === 'JSON.stringify')) return null
  const { req, res } = request
  const length = call === 'JSON.parse' ? req.headers['content-length'] : res?.getHeader?.('content-length')
  return Number(length) >= MIN_BODY_BYTES ? Number(length) : null
}

module.exports = { blockingCall, bodyBytesOf }
