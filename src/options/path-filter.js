'use strict'
// Which requests a filter of the user's names: by a path, by a regular expression on the path, by a function that gets the
// request, or by a list of these. A filter is compiled once, at set-up.

const { isRegExp } = require('node:util/types')
const { pathnameOf } = require('../url-path')

const isFunction = (value) => typeof value === 'function'
// A star would look like a pattern, and match nothing.
const isPath = (value) => typeof value === 'string' && /^\/[!-~]*$/.test(value) && !/[?#*]/.test(value)
const isRule = (value) => isPath(value) || isRegExp(value) || isFunction(value)

/** @returns {boolean} whether `compile` takes it */
const isFilter = (value) => (Array.isArray(value) ? value.every(isRule) : isRule(value))

/** The path as the client asked for it: a framework takes off what it has routed. */
function pathOf({ originalUrl, url }) {
  const asked = originalUrl ?? url
  return typeof asked === 'string' ? pathnameOf(asked) : ''
}

/**
 * @param {any} filter for which `isFilter` holds
 * @returns {(req: any) => boolean} which throws what a function of the filter throws
 */
function compile(filter) {
  const rules = [filter].flat()
  const paths = new Set(rules.filter((rule) => typeof rule === 'string'))
  const expressions = rules.filter(isRegExp).map(withoutState)
  const functions = rules.filter(isFunction)
  return (req) => {
    const path = pathOf(req)
    return (
      paths.has(path) ||
      expressions.some((expression) => expression.test(path)) ||
      functions.some((ask) => holds(ask(req)))
    )
  }
}

/** A promise is no answer, and would be taken for a yes. */
function holds(answer) {
  if (typeof answer?.then !== 'function') return Boolean(answer)
  // A `then` of another's may be an async function.
  Promise.resolve(answer.then(undefined, () => {})).then(undefined, () => {})
  throw new TypeError('it returned a promise, and not true or false')
}

/** One with the flag `g` or `y` goes on where it last stopped. */
const withoutState = ({ source, flags }) => new RegExp(source, flags.replace(/[gy]/g, ''))

module.exports = { compile, isFilter }
