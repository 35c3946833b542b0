'use strict'
// Compiles a filter of the user to a predicate on requests. A filter is a path, a regular expression on the
// path, a function of the request and of any response, or a list of these.

const { isRegExp } = require('node:util/types')
const { pathnameOf } = require('../url-path')

/** @import { AccessIgnoreRule, Request, Response } from '../../../index.js' */

/** @param {unknown} value */
const isFunction = (value) => typeof value === 'function'
// A path with `*` or `/:id` looks like a pattern, but would match nothing.
/** @param {unknown} value */
const isPath = (value) => typeof value === 'string' && /^\/[!-~]*$/.test(value) && !/[?#*]|\/:/.test(value)
/** @param {unknown} value */
const isRule = (value) => isPath(value) || isRegExp(value) || isFunction(value)

/** @param {unknown} value @returns {boolean} whether `compile` accepts the value */
const isFilter = (value) => (Array.isArray(value) ? value.every(isRule) : isRule(value))

/** @typedef {Partial<PromiseLike<unknown>> | null | undefined} Result of a function, or another value */

/**
 * The path as the client sent it. A framework removes the part it has routed from `url`.
 *
 * @param {{ originalUrl?: unknown, url?: unknown }} req
 */
function pathOf({ originalUrl, url }) {
  const target = originalUrl ?? url
  return typeof target === 'string' ? pathnameOf(target) : ''
}

/**
 * @param {AccessIgnoreRule | readonly AccessIgnoreRule[]} filter
 * @returns {(req: Request, res?: Response) => boolean} throws what a function of the filter throws
 */
function compile(filter) {
  const rules = [filter].flat()
  const paths = new Set(rules.filter((rule) => typeof rule === 'string'))
  const expressions = rules.filter(isRegExp).map(withoutState)
  const functions = /** @type {((req: Request, res?: Response) => Result)[]} */ (rules.filter(isFunction))
  return (req, res) => {
    const path = pathOf(req)
    return (
      paths.has(path) ||
      expressions.some((expression) => expression.test(path)) ||
      functions.some((matches) => toBoolean(matches(req, res)))
    )
  }
}

/**
 * Throws for a promise, which would count as true. Its rejection must not end the process.
 *
 * @param {Result} result
 */
function toBoolean(result) {
  if (typeof result?.then !== 'function') return Boolean(result)
  // The `then` of a foreign thenable may itself return a promise.
  Promise.resolve(result.then(undefined, () => {})).then(undefined, () => {})
  throw new TypeError('it returned a promise instead of true or false')
}

/** With the flag `g` or `y` a RegExp continues where the last match ended. @param {RegExp} expression */
const withoutState = ({ source, flags }) => new RegExp(source, flags.replace(/[gy]/g, ''))

module.exports = { compile, isFilter }
