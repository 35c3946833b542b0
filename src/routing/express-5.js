'use strict'
// Paths of layers in router 2 (Express 5). Since 2.3 a mount layer keeps the path it was given; before, only
// matchers, so its template is found by asking them: a token put into a value comes back under the name of its
// parameter. A RegExp mount cannot be asked, and reads `(regexp)` there.
// Route paths are the same in router 1 and 2: `layer.route.path`.

const { randomBytes } = require('node:crypto')
const { pathText } = require('./route-node')
const { pathnameOf } = require('../url-path')

const TOKEN = `spillway${randomBytes(8).toString('hex')}`

/** Each character of a segment is a question, and clients may send segments of any length. */
const LONGEST_PROBED = 256

const BUILT_IN_LAYERS = 0

const isRootMount = (layer) => layer.slash === true

/** The template of a route layer: a string, or for an array of paths a function that tells which one answered. */
function routePath(layer, router) {
  const { path } = layer.route
  if (!Array.isArray(path)) return pathText(path)
  const alternatives = alternativesOf(layer, path, {
    sensitive: router.caseSensitive,
    strict: router.strict,
    end: true,
  })
  return (req) => alternatives(pathnameOf(req.url))
}

/** The template of a mount layer: a string, or a function of the part of the URL it took. */
function mountPath(layer, router) {
  if (!('rawPath' in layer)) return probedPath(layer.matchers)
  const path = layer.rawPath
  if (!Array.isArray(path)) return pathText(path)
  return alternativesOf(layer, path, { sensitive: router.caseSensitive, strict: false, end: false })
}

/** Asks a layer of each single path, made by the router's own class so that it matches by the router's own rules. */
function alternativesOf(layer, paths, options) {
  const Layer = layer.constructor
  const each = paths.flat(Infinity).map((path) => ({
    text: pathText(path),
    layer: new Layer(path, options, () => {}),
  }))
  return (pathname) => (each.find((one) => one.layer.match(pathname)) ?? each[0]).text
}

/** @returns {(taken: string) => string} throws where it cannot tell, and then learns nothing */
function probedPath(matchers) {
  const known = new Map()
  return (taken) => {
    for (let i = 0; i < matchers.length; i++) {
      const match = matchers[i](taken)
      if (!match) continue
      if (matchers[i].name === 'regexpMatcher') return '(regexp)'
      // One shape is one template: the same matcher, parameters and depth, a wildcard counted once.
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
    throw new RangeError('no path of this mount takes that')
  }
}

/** Asks of each segment what parameter takes it, and if none takes it whole, of each character. */
function probe(matcher, params, taken) {
  const token = tokenFor(Object.values(params).flat())
  const segments = taken.split('/')
  const template = []
  for (let i = 1; i < segments.length; i++) {
    const before = `${segments.slice(0, i).join('/')}/`
    const after = ['', ...segments.slice(i + 1)].join('/')
    const ask = (left, right) => {
      const asked = before + left + token + right + after
      const match = matcher(asked)
      // Else an optional part came or went, or the mount took less of it: the answer is to another question.
      const isIt = match && match.path === asked && namesOf(match.params) === namesOf(params)
      return isIt ? ownerOf(token, match.params) : undefined
    }
    const owner = ask('', '')
    template.push(owner?.template ?? partsOf(segments[i], ask))
    // A wildcard takes several segments.
    if (owner !== undefined) i += owner.more
  }
  return template.map((part) => `/${part}`).join('')
}

/**
 * Text that is in none of the values. It begins with what no client knows: where one did, 16 kB of zeros behind it would
 * make this ask for 0.2 s, and again at each request where the path is too long to be learnt.
 */
function tokenFor(values) {
  let token = TOKEN
  while (values.some((value) => value.includes(token))) token += '0'
  return token
}

const namesOf = (params) => String(Object.keys(params))

/** The parameter that took the token. */
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
 * A segment that is part text, part parameters: `/v:major-:minor`. A character belongs to a parameter if a token on
 * either side of it does. Escaped bytes stay together: cut apart they cannot be decoded.
 */
function partsOf(segment, ask) {
  if (segment.length > LONGEST_PROBED) throw new RangeError('too long to ask of each character')
  const characters = segment.match(/(?:%[\da-f]{2})+|./gis) ?? []
  const ownerAt = (i) => ask(characters.slice(0, i).join(''), characters.slice(i).join(''))?.template
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
