'use strict'
// Describes an error by its type, message, stack, code and causes. Any value can be thrown, even a Proxy or
// an error with throwing getters. So every property is read in a `try`. Other properties are not shown:
// parsers attach the body of the request, and HTTP clients attach the headers that they sent. Messages are
// masked (text.js), and do not quote a body.

const { isNativeError, isUint8Array } = require('node:util/types')
const { maskText } = require('./text')

const NAME = /^[A-Za-z_$][\w$.]{0,63}$/
const CODE = /^[A-Z][A-Z\d_]{1,63}$/
const FRAME = /^ {4}at (?:.*:\d+:\d+\)?|.*\((?:<anonymous>|native|index \d+)\)|<anonymous>)$/
const LONGEST_FRAME = 1024
/**
 * The start of a stack, such as `Error: ` or `TypeError [ERR_X]: `. Does not match text that a client could
 * have sent.
 */
const HEAD = /^[\w$. ]{0,64}(?:\[\w{1,64}\])?: $/
const LONGEST_CODE = 256
const LONGEST_MESSAGE = 1024
/** Only this much of a message is masked and shown. */
const LONGEST_READ = 4096
const LONGEST_STACK = 8192
const DEEPEST_CAUSE = 5

/** Matches messages of JSON parsers, if they do not quote the text that was parsed. */
const HARMLESS_JSON =
  /^(?:Unexpected end of JSON input|Unexpected token in JSON|Malformed JSON|(?:Bad|Expected|Exponent|No|Unexpected|Unterminated) [^"]{1,60} (?:in|after) JSON at position \d+(?: \(line \d+ column \d+\))?|invalid JSON, only supports object and array)$/
const MALFORMED = 'The body is malformed'

/** @param {unknown} value @param {PropertyKey} key @returns {unknown} */
function read(value, key) {
  if (value === null || value === undefined) return undefined
  try {
    return /** @type {Record<PropertyKey, unknown>} */ (value)[key]
  } catch {
    return undefined
  }
}

/** @param {unknown} value */
const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function'

/** The message, not masked. @param {unknown} error */
function rawMessage(error) {
  if (error === null || error === undefined) return ''
  const message = isObject(error) ? read(error, 'message') : String(error)
  return typeof message === 'string' ? message : ''
}

/** The masked message, for a log, a span or the answer. @param {unknown} error */
function messageOf(error) {
  const message = rawMessage(error)
  if (message === '') return ''
  const shown = maskText(message.slice(0, LONGEST_READ))
  return isObject(error) && quotesBody(error, message, shown) ? MALFORMED : shown.slice(0, LONGEST_MESSAGE)
}

/**
 * body-parser, co-body and others attach the body to a parser's error. The message of such an error may quote
 * the body in any form.
 * @param {unknown} error
 * @param {string} message
 * @param {string} shown
 */
function quotesBody(error, message, shown) {
  const body = read(error, 'body')
  const hasBody = typeof body === 'string' || isUint8Array(body)
  const isOfParser =
    read(error, 'type') === 'entity.parse.failed' || (hasBody && read(error, 'name') === 'SyntaxError')
  if (isOfParser) return !HARMLESS_JSON.test(shown)
  return hasBody && body.length > 0 && body.length <= message.length && message.includes(textOf(body))
}

/** @param {string | Uint8Array} body */
const textOf = (body) => (typeof body === 'string' ? body : new TextDecoder().decode(body))

/** A name of low cardinality: the class, or the code of a plain `Error`. @param {unknown} error */
function typeOf(error) {
  if (error === null) return 'null'
  if (!isObject(error)) return typeof error
  const name = read(error, 'name')
  if (isTelling(name)) return name
  // The class may not have set `name`.
  const className = read(read(error, 'constructor'), 'name')
  if (isTelling(className)) return className
  const code = read(error, 'code')
  if (typeof code === 'string' && CODE.test(code)) return code
  return isNativeError(error) ? 'Error' : 'object'
}

/** @param {unknown} name @returns {name is string} */
const isTelling = (name) =>
  typeof name === 'string' && name !== 'Error' && name !== 'Object' && NAME.test(name)

/** @param {string} line */
const isFrame = (line) => line.length <= LONGEST_FRAME && FRAME.test(line)

/**
 * The stack begins with the message, which may contain lines that look like frames.
 *
 * @param {unknown} error
 */
function stackOf(error, shown = messageOf(error)) {
  const stack = read(error, 'stack')
  if (typeof stack !== 'string') return undefined
  const message = rawMessage(error)
  const at = message === '' ? -1 : stack.indexOf(message)
  const head = at !== -1 && HEAD.test(stack.slice(0, at)) ? stack.slice(0, at) : `${typeOf(error)}: `
  const rest = at === -1 ? stack : stack.slice(at + message.length)
  const frames = rest.slice(0, LONGEST_STACK).split('\n').filter(isFrame)
  const first = shown === '' ? head.slice(0, -2) : head + shown
  return [first, ...frames].join('\n').slice(0, LONGEST_STACK)
}

/**
 * Returns the code. A text is masked, because an HTTP client may have copied it from the answer of its
 * upstream.
 *
 * @param {unknown} error
 */
function codeOf(error) {
  const code = read(error, 'code')
  if (typeof code === 'string') return maskText(code.slice(0, LONGEST_CODE))
  return typeof code === 'number' ? code : undefined
}

/** @param {unknown} error */
const sentenceOf = (error) => `${typeOf(error)}: ${messageOf(error)}`

/** @param {unknown} error */
function causesOf(error) {
  const causes = []
  let cause = read(error, 'cause')
  while (cause !== undefined && cause !== null && causes.length < DEEPEST_CAUSE) {
    causes.push(sentenceOf(cause))
    cause = read(cause, 'cause')
  }
  return causes
}

/** The errors of an AggregateError, whose own message is often empty. @param {unknown} error */
function errorsOf(error) {
  const sentences = []
  const errors = read(error, 'errors')
  for (let i = 0; i < DEEPEST_CAUSE; i++) {
    const one = read(errors, i)
    if (isNativeError(one)) sentences.push(sentenceOf(one))
  }
  return sentences
}

/**
 * The description for a log line. For an object with a prototype, pino would log the name of its class as the
 * type. So the description has none.
 *
 * @param {unknown} error
 */
function describeError(error) {
  const message = messageOf(error)
  const stack = stackOf(error, message)
  const code = codeOf(error)
  const causes = causesOf(error)
  const errors = errorsOf(error)
  return {
    __proto__: null,
    type: typeOf(error),
    message,
    ...(stack !== undefined && { stack }),
    ...(code !== undefined && { code }),
    ...(causes.length > 0 && { causes }),
    ...(errors.length > 0 && { errors }),
  }
}

module.exports = { describeError, messageOf, read, stackOf, typeOf }
