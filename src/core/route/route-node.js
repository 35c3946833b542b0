'use strict'
// A node in the tree of routes: the template that leads to it, built once. The tree follows the mounts, so a
// router that is mounted twice has two nodes, and the label of a request is one property read. The tree is
// bounded, because an application may build routers from request data. Beyond the bounds a node is made for
// its request and not kept; its label is the same.

/** How many nodes a tree keeps. */
const MAX_NODES = 10_000
/** The longest template that a tree keeps: labels are cut at this length. */
const MAX_TEMPLATE_LENGTH = 256
const SLASH = 47

class RouteNode {
  template
  /** The label of a request that this node took. */
  label
  isRoute
  /**
   * The node that the next path is appended to: a route strips nothing from the URL, so its base is its
   * mount.
   *
   * @type {RouteNode}
   */
  base
  #tree
  /** @type {Map<string, RouteNode> | undefined} */
  #mounts
  /** @type {Map<string, RouteNode> | undefined} */
  #routes

  /**
   * @param {string} template
   * @param {{ base?: RouteNode | undefined, tree?: { kept: number } | undefined }} [parts] base: the mount of
   *   a route; tree: the tree that keeps the node, if any
   */
  constructor(template, { base, tree } = {}) {
    this.template = template
    this.label = template === '' ? '/' : template
    this.isRoute = base !== undefined
    this.base = base ?? this
    this.#tree = tree
  }

  /** @param {string} path @returns {RouteNode} */
  mount(path) {
    if (path === '') return this
    return this.#mounts?.get(path) ?? this.#add(path, false)
  }

  /** @param {string} path @returns {RouteNode} */
  route(path) {
    return this.#routes?.get(path) ?? this.#add(path, true)
  }

  /** @param {string} path @param {boolean} isRoute */
  #add(path, isRoute) {
    const base = isRoute ? this : undefined
    const tree = this.#tree
    if (tree === undefined || tree.kept >= MAX_NODES || this.#isTooLong(path)) {
      return new RouteNode(this.template + path, { base })
    }
    tree.kept++
    const key = copyOf(path)
    const node = new RouteNode(this.template + key, { base, tree })
    const children = isRoute ? (this.#routes ??= new Map()) : (this.#mounts ??= new Map())
    children.set(key, node)
    return node
  }

  /** @param {string} path */
  #isTooLong(path) {
    return this.template.length + path.length > MAX_TEMPLATE_LENGTH
  }
}

/** V8 makes a slice as a view, which would keep the whole URL in memory. @param {string} text */
const copyOf = (text) => Buffer.from(text, 'utf16le').toString('utf16le')

const createRoot = () => new RouteNode('', { tree: { kept: 0 } })

/**
 * Strips slashes at the end, so that '/users/' and '/:id' make '/users/:id', and '/users' and '/' make
 * '/users'.
 *
 * @param {unknown} path
 */
function pathText(path) {
  if (typeof path !== 'string') return String(path)
  // Written without a regular expression: `/+$` takes 190 ms for 15 kB of slashes before another character.
  let end = path.length
  while (end > 0 && path.charCodeAt(end - 1) === SLASH) end--
  return path.slice(0, end)
}

const ROOT = createRoot()
/** The routes that the application has named. */
const NAMED = createRoot()

exports.MAX_NODES = MAX_NODES
exports.NAMED = NAMED
exports.ROOT = ROOT
exports.RouteNode = RouteNode
exports.pathText = pathText
exports.createRoot = createRoot
