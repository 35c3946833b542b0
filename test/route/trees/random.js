'use strict'
// Random router trees whose templates the generator knows: every path begins with a word of its own, so that
// a URL can take one way only. Values in URLs are unmistakable, so that one in a label is found.

const fc = require('fast-check')

const VALUE = 'id-7f3a'

/** What follows the first word of a path. */
const shape = fc.array(fc.constantFrom('text', 'parameter', 'pair'), { maxLength: 2 })
/** One path, or an array of them. */
const shapes = fc.array(shape, { minLength: 1, maxLength: 2 })

const { tree } = fc.letrec((tie) => ({
  tree: fc.record({
    isApart: fc.boolean(),
    guards: fc.nat({ max: 2 }),
    routes: fc.array(shapes, { minLength: 1, maxLength: 3 }),
    children: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.constant([]),
      fc.array(fc.record({ shapes, isTwice: fc.boolean(), node: tie('tree') }), {
        minLength: 1,
        maxLength: 2,
      })
    ),
  }),
}))

/** What a request does where it arrives. `guard` says which of the guards on its way turns it away. */
const ending = fc.oneof(
  fc.record({ how: fc.constantFrom('answer', 'throw', 'pass an error', 'pass on', 'abort', 'nowhere') }),
  fc.record({ how: fc.constant('guard'), guard: fc.nat() })
)

const requests = fc.array(fc.record({ leaf: fc.nat(), ending }), { minLength: 10, maxLength: 10 })

/**
 * Gives every path a name. `isApart` asks whether a child is a sub-app (Express) or koa-mount's; the latter
 * takes no parameters and no arrays.
 */
function named(node, { textOnly = false, isRoot = true } = {}) {
  let words = 0
  const pathOf = (kinds) => {
    const word = `w${words++}`
    const segments = kinds.map((kind, i) => {
      if (kind === 'text') return `t${i}`
      return kind === 'parameter' ? `:${word}p${i}` : `:${word}a${i}-:${word}b${i}`
    })
    return ['', word, ...segments].join('/')
  }
  const name = ({ isApart, guards, routes, children }, canBeApart) => {
    const self = {
      isApart: isApart && canBeApart,
      guards: Array.from({ length: guards }, () => words++),
      mounts: [],
    }
    self.routes = routes.map((each) => each.map(pathOf))
    for (const child of children) {
      const inner = name(child.node, !textOnly || self.isApart)
      const kinds = textOnly && inner.isApart ? [[]] : child.shapes
      for (let i = 0; i <= Number(child.isTwice); i++)
        self.mounts.push({ paths: kinds.map(pathOf), node: inner })
    }
    return self
  }
  return name({ ...node, isApart: isRoot }, true)
}

/** Every way to a route: its template, and the guards on the way with the template of where each is. */
function leavesOf(node, above = { template: '', guards: [] }) {
  const guards = [
    ...above.guards,
    ...node.guards.map((id) => ({ id, isApart: node.isApart, template: above.template || '/' })),
  ]
  const routes = node.routes.flat().map((path) => ({ template: above.template + path, guards }))
  const mounted = node.mounts.flatMap(({ paths, node: child }) =>
    paths.flatMap((path) => leavesOf(child, { template: above.template + path, guards }))
  )
  return [...routes, ...mounted]
}

let values = 0
const urlOf = (template) => template.replace(/:\w+/g, () => `${VALUE}${values++}`)

module.exports = { VALUE, leavesOf, named, requests, tree, urlOf }
