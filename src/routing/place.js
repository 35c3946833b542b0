'use strict'
// A place in a router tree: the template that leads there, built once. The tree of places follows the mounts, so a
// router mounted twice has two, and a request's label is one property read.

class Place {
  template
  isRoute
  #mounts = new Map()
  #routes = new Map()

  constructor(template, isRoute) {
    this.template = template
    this.isRoute = isRoute
  }

  get label() {
    return this.template === '' ? '/' : this.template
  }

  mount(path) {
    return this.#child(this.#mounts, path, false)
  }

  route(path) {
    return this.#child(this.#routes, path, true)
  }

  #child(children, path, isRoute) {
    let child = children.get(path)
    if (child === undefined) {
      child = new Place(join(this.template, path), isRoute)
      children.set(path, child)
    }
    return child
  }
}

/** '/users' and '/' are '/users'; '/users/' and '/:id' are '/users/:id'. */
function join(above, path) {
  const template = above + path
  return template.endsWith('/') ? template.replace(/\/+$/, '') : template
}

const ROOT = new Place('', false)

module.exports = { ROOT, Place }
