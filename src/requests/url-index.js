'use strict'
// Which of the routes that have answered so far would have taken a URL? A guess, for requests that no router ever saw: the
// templates as a tree of path segments, where what is literal goes before a parameter and that before a wildcard. The tree is
// the application's, so no URL makes the search longer than that; and a long one is not looked at.

const { urlPath } = require('../url-path')

/** Regular expressions, and optional parts: no guess is better than a bad one. */
const UNREADABLE = /[\\^$[\]{}|]/
/** A segment with any of these takes any one segment of a path. */
const PARAMETER = /[:()?+]/
const OPTIONAL_WILDCARD = /\{(\/?\*[^{}]*)\}/g
const WILDCARD = '*'
const LONGEST = 1024

class Branch {
  literals = new Map()
  any
  /** What takes the whole rest of a path. */
  rest
  series
}

/** No pattern strips the last slash: `/+$` takes 190 ms for 15 kB of slashes with something behind. */
function segmentsOf(path) {
  const end = path.endsWith('/') ? path.length - 1 : path.length
  return end === 0 ? [] : path.slice(1, end).toLowerCase().split('/')
}

class UrlIndex {
  #roots = new Map()

  /** @param {{ method: string, route: string }} series of a route; what is named otherwise is passed over */
  add(series) {
    const template = series.route.replace(OPTIONAL_WILDCARD, '$1')
    if (!template.startsWith('/') || UNREADABLE.test(template)) return
    let branch = this.#roots.get(series.method)
    if (branch === undefined) this.#roots.set(series.method, (branch = new Branch()))
    for (const segment of segmentsOf(template)) {
      if (segment.includes(WILDCARD)) {
        branch.rest ??= series
        return
      }
      branch = PARAMETER.test(segment) ? (branch.any ??= new Branch()) : literal(branch, segment)
    }
    branch.series ??= series
  }

  find(method, url) {
    const root = this.#roots.get(method)
    if (root === undefined || typeof url !== 'string' || !url.startsWith('/')) return undefined
    const path = urlPath(url)
    return path.length > LONGEST ? undefined : seek(root, segmentsOf(path), 0)
  }
}

function literal({ literals }, segment) {
  let branch = literals.get(segment)
  if (branch === undefined) literals.set(segment, (branch = new Branch()))
  return branch
}

function seek(branch, segments, at) {
  if (at === segments.length) return branch.series ?? branch.rest
  const exact = branch.literals.get(segments[at])
  return (
    (exact === undefined ? undefined : seek(exact, segments, at + 1)) ??
    (branch.any === undefined ? undefined : seek(branch.any, segments, at + 1)) ??
    branch.rest
  )
}

module.exports = { UrlIndex }
