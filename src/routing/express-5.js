'use strict'
// Paths of layers in router 2 (Express 5). Since 2.3 a mount layer keeps the path it was given; before, only
// matchers, so its template is found by asking them: a token put in place of a value comes back under the name of
// its parameter. A RegExp mount cannot be asked, and reads `(regexp)` there.
// Route paths are the same in router 1 and 2: `layer.route.path`.

const TOKEN = 'spillway0'

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

function pathText(path) {
  if (Array.isArray(path)) return path.flat(Infinity).map(pathText).join(',')
  return String(path)
}

/** The pathname of a request target, also in absolute form (`GET http://host/path`), which proxies send. */
function pathnameOf(url) {
  const query = url.indexOf('?')
  const target = query === -1 ? url : url.slice(0, query)
  return target[0] === '/' ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '') || '/'
}

function probedPath(matchers) {
  const known = new Map()
  return (taken) => {
    for (let i = 0; i < matchers.length; i++) {
      const match = matchers[i](taken)
      if (!match) continue
      // One shape is one template: the same matcher, parameters and depth.
      const shape = `${i} ${Object.keys(match.params)} ${taken.split('/').length}`
      let template = known.get(shape)
      if (template === undefined) {
        template = matchers[i].name === 'regexpMatcher' ? '(regexp)' : probe(matchers[i], taken, match.params)
        known.set(shape, template)
      }
      return template
    }
    return '(unknown)'
  }
}

/** Puts the token in place of each segment, then of each value within a segment, and sees what parameter it became. */
function probe(matcher, taken, params) {
  const segments = taken.split('/')
  const template = []
  for (let i = 1; i < segments.length; i++) {
    const part = ask(matcher, segments, i, TOKEN) ?? named(matcher, segments, i, params)
    // A wildcard takes several segments and is named once.
    if (part[0] !== '*' || template.at(-1) !== part) template.push(part)
  }
  return `/${template.join('/')}`
}

function ask(matcher, segments, index, replacement) {
  const asked = segments.with?.(index, replacement) ?? segments.map((s, i) => (i === index ? replacement : s))
  const match = matcher(asked.join('/'))
  if (!match) return undefined
  for (const [name, value] of Object.entries(match.params)) {
    if (value === TOKEN) return `:${name}`
    if (Array.isArray(value) && value.includes(TOKEN)) return `*${name}`
  }
  return undefined
}

/** A segment that is part text, part parameters: `/v:major-:minor`. */
function named(matcher, segments, index, params) {
  let text = segments[index]
  for (const [name, value] of Object.entries(params)) {
    const raw = encodeURIComponent(String(value))
    const at = text.indexOf(raw)
    if (raw === '' || at === -1) continue
    const swapped = text.slice(0, at) + TOKEN + text.slice(at + raw.length)
    if (ask(matcher, segments, index, swapped) === `:${name}`) {
      text = `${text.slice(0, at)}:${name}${text.slice(at + raw.length)}`
    }
  }
  return text
}

module.exports = { isRootMount, mountPath, pathText, routePath }
