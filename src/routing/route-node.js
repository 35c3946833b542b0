'use strict'
// A place in a router tree: the template that leads there, built once. The tree of places follows the mounts, so a
// router mounted twice has two, and a request's label is one property read.
// The tree is bounded, because an application may build routers from request data: past the bounds a place is made for the
// request that needs it, and kept by nothing. Its label is the same.

/** How many places one tree keeps. */
const MOST_PLACES = 10_000
/** The longest template that is kept: a label has no more characters. */
const LONGEST_TEMPLATE = 256
const SLASH = 47

class Place {
  template
  isRoute
  /** Where what is routed from here begins: a route takes nothing off the URL. */
  base
  #tree
  #mounts
  #routes

  /**
   * @param {string} template
   * @param {{ base?: Place | undefined, tree?: { kept: number } | undefined }} [parts] base: of a route, the mount it is in; tree: what the
   *   place is kept in, if it is
   */
  constructor(template, { base, tree } = {}) {
    this.template = template
    this.isRoute = base !== undefined
    this.base = base ?? this
    this.#tree = tree
  }

  get label() {
    return this.template === '' ? '/' : this.template
  }

  mount(path) {
    if (path === '') return this
    return this.#mounts?.get(path) ?? this.#make(path, false)
  }

  route(path) {
    return this.#routes?.get(path) ?? this.#make(path, true)
  }

  #make(path, isRoute) {
    const base = isRoute ? this : undefined
    const tree = this.#tree
    if (tree === undefined || tree.kept >= MOST_PLACES || this.#isTooLong(path)) {
      return new Place(this.template + path, { base })
    }
    tree.kept++
    const key = copyOf(path)
    const place = new Place(this.template + key, { base, tree })
    const children = isRoute ? (this.#routes ??= new Map()) : (this.#mounts ??= new Map())
    children.set(key, place)
    return place
  }

  #isTooLong(path) {
    return this.template.length + path.length > LONGEST_TEMPLATE
  }
}

/** A part of a URL keeps all of the URL in memory: V8 makes such a string as a view. */
const copyOf = (text) => Buffer.from(text, 'utf16le').toString('utf16le')

const rootOfTree = () => new Place('', { tree: { kept: 0 } })

/** '/users/' and '/:id' are '/users/:id', and '/users' and '/' are '/users'. */
function pathText(path) {
  if (typeof path !== 'string') return String(path)
  // No pattern: `/+$` takes 190 ms for 15 kB of slashes with something behind.
  let end = path.length
  while (end > 0 && path.charCodeAt(end - 1) === SLASH) end--
  return path.slice(0, end)
}

const ROOT = rootOfTree()

module.exports = { MOST_PLACES, ROOT, Place, pathText, rootOfTree }
