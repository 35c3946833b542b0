'use strict'
// A place in a router tree: the template that leads there, built once. The tree of places follows the mounts, so a
// router mounted twice has two, and a request's label is one property read.

class Place {
  template
  isRoute
  /** Where what is routed from here begins: a route takes nothing off the URL. */
  base
  #mounts = new Map()
  #routes = new Map()

  /** @param {Place} [base] of a route: the mount it is in */
  constructor(template, base) {
    this.template = template
    this.isRoute = base !== undefined
    this.base = base ?? this
  }

  get label() {
    return this.template === '' ? '/' : this.template
  }

  mount(path) {
    return path === '' ? this : this.#child(this.#mounts, path)
  }

  route(path) {
    return this.#child(this.#routes, path, this)
  }

  #child(children, path, base) {
    let child = children.get(path)
    if (child === undefined) {
      child = new Place(this.template + path, base)
      children.set(path, child)
    }
    return child
  }
}

/** '/users/' and '/:id' are '/users/:id', and '/users' and '/' are '/users'. */
function pathText(path) {
  return typeof path === 'string' ? path.replace(/\/+$/, '') : String(path)
}

const ROOT = new Place('')

module.exports = { ROOT, Place, pathText }
