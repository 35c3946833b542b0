'use strict'
// An error in words of ours: its type, message, stack, code and causes. Anything can be thrown: null, a string, a Proxy, one
// whose getters throw or whose causes go in a circle. So a property is read in a try, and nothing is written to the error.
// Its other properties are not shown: parsers hang the body on their errors, HTTP clients the headers they sent. What its
// message quotes of a body is left out, and so is what `maskText` finds.

const { isNativeError, isUint8Array } = require('node:util/types')
const { maskText } = require('./text')

const NAME = /^[A-Za-z_$][\w$.]{0,63}$/
const CODE = /^[A-Z][A-Z\d_]{1,63}$/
const FRAME = /^ {4}at (?:.*:\d+:\d+\)?|.*\((?:<anonymous>|native|index \d+)\)|<anonymous>)$/
const LONGEST_FRAME = 1024
/** `Error: `, `TypeError [ERR_X]: ` and nothing that came from a client. */
const HEAD = /^[\w$. ]{0,64}(?:\[\w{1,64}\])?: $/
const LONGEST_CODE = 256
const LONGEST_MESSAGE = 1024
/** A message is looked through so far. */
const LONGEST_READ = 4096
const LONGEST_STACK = 8192
const DEEPEST_CAUSE = 5

/** What parsers of JSON say without a quote of the text. */
const HARMLESS_JSON =
  /^(?:Unexpected end of JSON input|Unexpected token in JSON|Malformed JSON|(?:Bad|Expected|Exponent|No|Unexpected|Unterminated) [^"]{1,60} (?:in|after) JSON at position \d+(?: \(line \d+ column \d+\))?|invalid JSON, only supports object and array)$/
const MALFORMED = 'The body is malformed'

function read(value, key) {
  if (value === null || value === undefined) return undefined
  try {
    return value[key]
  } catch {
    return undefined
  }
}

const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function'

/** As the error says it. */
function rawMessage(error) {
  if (error === null || error === undefined) return ''
  const message = isObject(error) ? read(error, 'message') : String(error)
  return typeof message === 'string' ? message : ''
}

/** For a log, a span or the answer. */
function messageOf(error) {
  const message = rawMessage(error)
  if (message === '') return ''
  const shown = maskText(message.slice(0, LONGEST_READ))
  return isObject(error) && quotesBody(error, message, shown) ? MALFORMED : shown.slice(0, LONGEST_MESSAGE)
}

/** body-parser, co-body and their like hang the body on the error of a parser, whose words may be any. */
function quotesBody(error, message, shown) {
  const body = read(error, 'body')
  const hasBody = typeof body === 'string' || isUint8Array(body)
  const isOfParser =
    read(error, 'type') === 'entity.parse.failed' || (hasBody && read(error, 'name') === 'SyntaxError')
  if (isOfParser) return !HARMLESS_JSON.test(shown)
  return hasBody && body.length > 0 && body.length <= message.length && message.includes(textOf(body))
}

const textOf = (body) => (typeof body === 'string' ? body : new TextDecoder().decode(body))

/** One of few words: the class, or for a plain Error its code. */
function typeOf(error) {
  if (error === null) return 'null'
  if (!isObject(error)) return typeof error
  const name = read(error, 'name')
  if (isTelling(name)) return name
  // A class that did not bother to set `name`.
  const className = read(read(error, 'constructor'), 'name')
  if (isTelling(className)) return className
  const code = read(error, 'code')
  if (typeof code === 'string' && CODE.test(code)) return code
  return isNativeError(error) ? 'Error' : 'object'
}

const isTelling = (name) =>
  typeof name === 'string' && name !== 'Error' && name !== 'Object' && NAME.test(name)

const isFrame = (line) => line.length <= LONGEST_FRAME && FRAME.test(line)

/** The stack begins with the message, which may hold lines that look like its own. */
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

/** An HTTP client may have put there whatever its upstream has sent. */
function codeOf(error) {
  const code = read(error, 'code')
  if (typeof code === 'string') return maskText(code.slice(0, LONGEST_CODE))
  return typeof code === 'number' ? code : undefined
}

const sentenceOf = (error) => `${typeOf(error)}: ${messageOf(error)}`

function causesOf(error) {
  const causes = []
  let cause = read(error, 'cause')
  while (cause !== undefined && cause !== null && causes.length < DEEPEST_CAUSE) {
    causes.push(sentenceOf(cause))
    cause = read(cause, 'cause')
  }
  return causes
}

/** Those of an AggregateError, whose own message often says nothing. */
function partsOf(error) {
  const parts = []
  const errors = read(error, 'errors')
  for (let i = 0; i < DEEPEST_CAUSE; i++) {
    const part = read(errors, i)
    if (isNativeError(part)) parts.push(sentenceOf(part))
  }
  return parts
}

/** Without a prototype, or pino would name its class. */
function describeError(error) {
  const message = messageOf(error)
  const stack = stackOf(error, message)
  const code = codeOf(error)
  const causes = causesOf(error)
  const errors = partsOf(error)
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
