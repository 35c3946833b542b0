'use strict'
// Which requests a list names: by their path, by a regular expression on the path, or by a function that gets the request. A
// list is compiled once, at set-up.

/** The path as the client asked for it: a framework takes off what it has routed. */
function pathOf({ originalUrl, url }) {
  const asked = originalUrl ?? url
  if (typeof asked !== 'string') return ''
  const end = asked.indexOf('?')
  return end === -1 ? asked : asked.slice(0, end)
}

const isEntry = (entry) =>
  typeof entry === 'function' ||
  entry instanceof RegExp ||
  (typeof entry === 'string' && entry.startsWith('/'))

/** @returns {boolean} whether this is a list that `compile` takes */
const isFilter = (value) => typeof value === 'function' || (Array.isArray(value) && value.every(isEntry))

/**
 * @param {Function | readonly (string | RegExp | Function)[]} filter
 * @returns {(req: any) => boolean} which throws what a function in the list throws
 */
function compile(filter) {
  const entries = typeof filter === 'function' ? [filter] : filter
  const paths = new Set(entries.filter((entry) => typeof entry === 'string'))
  const expressions = entries.filter((entry) => entry instanceof RegExp).map(withoutState)
  const functions = entries.filter((entry) => typeof entry === 'function')
  return (req) => {
    const path = pathOf(req)
    return (
      paths.has(path) ||
      expressions.some((expression) => expression.test(path)) ||
      functions.some((each) => holds(each(req)))
    )
  }
}

/** A promise is no answer, and would be taken for a yes. */
function holds(answer) {
  if (typeof answer?.then !== 'function') return Boolean(answer)
  answer.then(undefined, () => {})
  throw new TypeError('it returned a promise, and not true or false')
}

/** One with the flag `g` or `y` goes on where it last stopped. */
const withoutState = (expression) => new RegExp(expression.source, expression.flags.replace(/[gy]/g, ''))

module.exports = { compile, isFilter }
