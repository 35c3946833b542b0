'use strict'
// What an error says of itself. Anything can be thrown: null, a string, a frozen object, a Proxy, one whose getters throw
// or whose causes go in a circle. So a property is read in a try, once, and nothing is ever written to the error.
// Only what it says itself is believed: `res.status(404)` before a `throw` sets the status, but does not make the message of
// whatever was thrown fit for a stranger.

const { isNativeError } = require('node:util/types')

const NAME = /^[A-Za-z_$][\w$.]{0,63}$/
const CODE = /^[A-Z][A-Z\d_]{1,63}$/
/** How body-parser and raw-body call it. co-body has no word for it, but hangs the body on a SyntaxError. */
const OF_BODY = new Set([
  'charset.unsupported',
  'encoding.unsupported',
  'entity.parse.failed',
  'entity.too.large',
  'entity.verify.failed',
  'parameters.too.many',
  'request.aborted',
  'request.size.invalid',
])
const LONGEST_CODE = 256
const LONGEST_MESSAGE = 1024
const LONGEST_STACK = 8192
const DEEPEST_CAUSE = 5

const isErrorStatus = (status) => Number.isInteger(status) && status >= 400 && status <= 599

function read(value, key) {
  if (value === null || value === undefined) return undefined
  try {
    return value[key]
  } catch {
    return undefined
  }
}

class Failure {
  error
  /** 400 to 599: its `status`, its `statusCode`, or the fallback; 500 where none of them is one. */
  status
  /** One of few words: the class, or for a plain Error its code. */
  type
  /** Whether a stranger may read the message. */
  isExposed
  /** Another of the same request, which came before. */
  earlier = undefined

  /** @param {number} [fallbackStatus] what the response says, where that is a way to give a status */
  constructor(error, fallbackStatus) {
    this.error = error
    const own = ownStatus(error)
    this.status = own ?? (isErrorStatus(fallbackStatus) ? /** @type {number} */ (fallbackStatus) : 500)
    this.type = typeOf(error)
    const expose = read(error, 'expose')
    this.isExposed = expose === true || (expose !== false && own !== undefined && own < 500)
  }

  /** Whether a body parser of Express, Koa or Connect says that it can make nothing of the body. */
  get isOfBody() {
    return (
      OF_BODY.has(read(this.error, 'type')) ||
      (this.type === 'SyntaxError' && this.status === 400 && typeof read(this.error, 'body') === 'string')
    )
  }

  get message() {
    return messageOf(this.error)
  }

  get stack() {
    const stack = read(this.error, 'stack')
    return typeof stack === 'string' ? stack.slice(0, LONGEST_STACK) : undefined
  }

  /** @returns {[name: string, value: unknown][]} what the error wants its answer to carry, unchecked */
  get headers() {
    const headers = read(this.error, 'headers')
    if (typeof headers !== 'object' || headers === null) return []
    try {
      return Object.entries(headers)
    } catch {
      return []
    }
  }

  /**
   * The error as pino shows one, in words of ours. Its other properties are not for a log: body-parser hangs the body on
   * its errors, HTTP clients the headers they sent. Without a prototype, or pino would name its class.
   */
  describe() {
    const { type, message, stack } = this
    const causes = causesOf(this.error)
    const code = codeOf(this.error)
    return {
      __proto__: null,
      type,
      message,
      ...(stack !== undefined && { stack }),
      ...(code !== undefined && { code }),
      ...(causes.length > 0 && { causes }),
    }
  }
}

function messageOf(error) {
  if (error === null || error === undefined) return ''
  const isObject = typeof error === 'object' || typeof error === 'function'
  const message = isObject ? read(error, 'message') : String(error)
  return typeof message === 'string' ? message.slice(0, LONGEST_MESSAGE) : ''
}

/** As a line shows it: an HTTP client may have put there whatever its upstream has sent. */
function codeOf(error) {
  const code = read(error, 'code')
  if (typeof code === 'string') return code.slice(0, LONGEST_CODE)
  return typeof code === 'number' ? code : undefined
}

function ownStatus(error) {
  const status = read(error, 'status')
  if (isErrorStatus(status)) return status
  const statusCode = read(error, 'statusCode')
  return isErrorStatus(statusCode) ? statusCode : undefined
}

function typeOf(error) {
  if (error === null) return 'null'
  if (typeof error !== 'object' && typeof error !== 'function') return typeof error
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

function causesOf(error) {
  const causes = []
  let cause = read(error, 'cause')
  while (cause !== undefined && cause !== null && causes.length < DEEPEST_CAUSE) {
    causes.push(`${typeOf(cause)}: ${messageOf(cause)}`)
    cause = read(cause, 'cause')
  }
  return causes
}

module.exports = { Failure }
