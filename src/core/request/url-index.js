'use strict'
// Guesses the route of a URL that no router has seen. The known templates are a tree of path segments. A
// literal segment is tried before a parameter, and a parameter before a wildcard. The number of routes limits
// the search. Long URLs are not searched at all.

const { urlPath } = require('../url-path')

/** @import { RouteSeries } from './route-series' */

/**
 * Templates with regular expressions or optional parts are left out, because a wrong guess is worse than
 * none.
 */
const UNREADABLE = /[\\^$[\]{}|]/
/** A segment with any of these characters matches any single segment of a path. */
const PARAMETER = /[:()?+]/
const OPTIONAL_WILDCARD = /\{(\/?\*[^{}]*)\}/g
const WILDCARD = '*'
const MAX_LENGTH = 1024

class Branch {
  /** @type {Map<string, Branch>} */
  literals = new Map()
  /** @type {Branch | undefined} */
  parameter
  /** The series of a wildcard, which matches the whole rest of a path. @type {RouteSeries | undefined} */
  rest
  /** @type {RouteSeries | undefined} */
  series
}

/** @param {string} path */
function segmentsOf(path) {
  const end = path.endsWith('/') ? path.length - 1 : path.length
  return end === 0 ? [] : path.slice(1, end).toLowerCase().split('/')
}

class UrlIndex {
  /** The root of the tree of each method. @type {Map<string | undefined, Branch>} */
  #roots = new Map()

  /** @param {RouteSeries} series skipped if its route is not a path template */
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
      branch = PARAMETER.test(segment) ? (branch.parameter ??= new Branch()) : literalBranch(branch, segment)
    }
    branch.series ??= series
  }

  /** @param {string | undefined} method @param {string | undefined} url */
  find(method, url) {
    const root = this.#roots.get(method)
    if (root === undefined || typeof url !== 'string' || !url.startsWith('/')) return undefined
    const path = urlPath(url)
    return path.length > MAX_LENGTH ? undefined : seek(root, segmentsOf(path), 0)
  }
}

/** @param {Branch} branch @param {string} segment */
function literalBranch({ literals }, segment) {
  let branch = literals.get(segment)
  if (branch === undefined) literals.set(segment, (branch = new Branch()))
  return branch
}

/** @param {Branch} branch @param {string[]} segments @param {number} at @returns {RouteSeries | undefined} */
function seek(branch, segments, at) {
  if (at === segments.length) return branch.series ?? branch.rest
  const exact = branch.literals.get(segments[at])
  return (
    (exact === undefined ? undefined : seek(exact, segments, at + 1)) ??
    (branch.parameter === undefined ? undefined : seek(branch.parameter, segments, at + 1)) ??
    branch.rest
  )
}

exports.UrlIndex = UrlIndex
