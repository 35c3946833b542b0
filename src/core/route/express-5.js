'use strict'
// The paths of layers in router 2 (Express 5). Route paths are the same in router 1 and 2:
// `layer.route.path`. Since 2.3 a mount layer keeps its path. Before 2.3, a mount layer keeps only matchers,
// so the template is found by probing the matchers. A token that is put in place of a value comes back under
// the name of its parameter. A RegExp mount cannot be probed, so its template is `(regexp)`.

const { randomBytes } = require('node:crypto')
const { pathText } = require('./route-node')
const { pathnameOf } = require('../url-path')

/**
 * @import { IncomingMessage } from 'node:http'
 * @import { Layer, Match, Matcher, Path, RouteLayer, Router } from './instrument-router'
 * @typedef {{ sensitive: boolean, strict: boolean, end: boolean }} LayerOptions
 * @typedef {new (path: Path, options: LayerOptions, handle: () => void) => Layer} LayerClass
 */

const TOKEN = `spillway${randomBytes(8).toString('hex')}`

/** A bound, because each character is probed and a client may send segments of any length. */
const MAX_PROBED_LENGTH = 256

const BUILT_IN_LAYERS = 0

/** @param {Layer} layer */
const isRootMount = (layer) => layer.slash === true

/**
 * Returns the template of a route layer. For an array of paths, returns a function that gives the template
 * for a request.
 * @param {RouteLayer} layer
 * @param {Router} router
 * @returns {string | ((req: IncomingMessage) => string)}
 */
function routePath(layer, router) {
  const { path } = layer.route
  if (!Array.isArray(path)) return pathText(path)
  const alternatives = alternativesOf(layer, path, {
    sensitive: router.caseSensitive,
    strict: router.strict,
    end: true,
  })
  return (req) => alternatives(pathnameOf(/** @type {string} */ (req.url)))
}

/**
 * Returns the template of a mount layer. If the template depends on the URL, returns a function that gives
 * the template for the matched part of a URL.
 * @param {Layer} layer
 * @param {Router} router
 * @returns {string | ((taken: string) => string)}
 */
function mountPath(layer, router) {
  if (!('rawPath' in layer)) return probedPath(layer.matchers)
  const path = layer.rawPath
  if (!Array.isArray(path)) return pathText(path)
  return alternativesOf(layer, path, { sensitive: router.caseSensitive, strict: false, end: false })
}

/**
 * Makes a layer of the router's own class for each path, so that the router's own rules decide which path
 * matched.
 * @param {Layer} layer @param {readonly (string | RegExp)[]} paths @param {LayerOptions} options
 */
function alternativesOf(layer, paths, options) {
  const Layer = /** @type {LayerClass} */ (layer.constructor)
  const each = paths.flat(Infinity).map((path) => ({
    text: pathText(path),
    layer: new Layer(path, options, () => {}),
  }))
  /** @param {string} pathname */
  return (pathname) => (each.find(({ layer }) => layer.match(pathname)) ?? each[0]).text
}

/**
 * @param {Matcher[]} matchers
 * @returns {(taken: string) => string} throws if it cannot derive the template, and caches nothing then
 */
function probedPath(matchers) {
  /** @type {Map<string, string>} */
  const known = new Map()
  return (taken) => {
    for (let i = 0; i < matchers.length; i++) {
      const match = matchers[i](taken)
      if (!match) continue
      if (matchers[i].name === 'regexpMatcher') return '(regexp)'
      // A template is cached by shape: matcher, parameters, and depth, with a wildcard counted as one
      // segment.
      let depth = taken.split('/').length
      for (const value of Object.values(match.params)) if (Array.isArray(value)) depth -= value.length
      const shape = `${i} ${namesOf(match.params)} ${depth}`
      let template = known.get(shape)
      if (template === undefined) {
        template = probe(matchers[i], match.params, taken)
        known.set(shape, template)
      }
      return template
    }
    throw new RangeError('no path of the mount matches the URL')
  }
}

/**
 * Finds the parameter that takes each segment. If none takes the whole segment, each character is probed.
 * @param {Matcher} matcher @param {Match['params']} params @param {string} taken
 */
function probe(matcher, params, taken) {
  const token = tokenFor(Object.values(params).flat())
  const segments = taken.split('/')
  const template = []
  for (let i = 1; i < segments.length; i++) {
    const before = `${segments.slice(0, i).join('/')}/`
    const after = ['', ...segments.slice(i + 1)].join('/')
    /** @param {string} left @param {string} right */
    const probeAt = (left, right) => {
      const path = before + left + token + right + after
      const match = matcher(path)
      // If the match covers less of the path or has other parameters, another optional part matched. Such a
      // match is ignored.
      const isSameShape = match && match.path === path && namesOf(match.params) === namesOf(params)
      return isSameShape ? ownerOf(token, match.params) : undefined
    }
    const owner = probeAt('', '')
    template.push(owner?.template ?? partsOf(segments[i], probeAt))
    // A wildcard takes several segments.
    if (owner !== undefined) i += owner.more
  }
  return template.map((part) => `/${part}`).join('')
}

/**
 * A text that occurs in none of the values. It starts with random bytes that no client knows. A client that
 * knew them could append 16 kB of zeros and keep this loop busy for 0.2 s a request.
 * @param {string[]} values
 */
function tokenFor(values) {
  let token = TOKEN
  while (values.some((value) => value.includes(token))) token += '0'
  return token
}

/** @param {Match['params']} params */
const namesOf = (params) => String(Object.keys(params))

/** Returns the parameter that took the token. @param {string} token @param {Match['params']} params */
function ownerOf(token, params) {
  for (const [name, value] of Object.entries(params)) {
    const segments = [value].flat()
    const at = segments.findIndex((segment) => segment.includes(token))
    if (at === -1) continue
    return { template: Array.isArray(value) ? `*${name}` : `:${name}`, more: segments.length - at - 1 }
  }
  return undefined
}

/**
 * The template of a segment that mixes text and parameters: `/v:major-:minor`. A character belongs to a
 * parameter if tokens before and after the character both belong to that parameter. Escaped bytes stay
 * together, because parts of a character cannot be decoded.
 * @param {string} segment
 * @param {(left: string, right: string) => { template: string } | undefined} probeAt
 */
function partsOf(segment, probeAt) {
  if (segment.length > MAX_PROBED_LENGTH) throw new RangeError('the segment is too long to probe')
  const characters = segment.match(/(?:%[\da-f]{2})+|./gis) ?? []
  /** @param {number} i */
  const ownerAt = (i) => probeAt(characters.slice(0, i).join(''), characters.slice(i).join(''))?.template
  let parts = ''
  let left = ownerAt(0)
  for (let i = 0; i < characters.length; i++) {
    const right = ownerAt(i + 1)
    if (left === undefined || left !== right) parts += characters[i]
    else if (!parts.endsWith(left)) parts += left
    left = right
  }
  return parts
}

module.exports = { BUILT_IN_LAYERS, isRootMount, mountPath, routePath }
