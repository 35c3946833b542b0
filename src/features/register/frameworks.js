'use strict'
// Finds the frameworks that the application has loaded, in Node's cache of CommonJS modules: no loader is hooked. Koa is followed
// to its contexts. The routers of Express are instrumented by their class, so that an app inside a listener has its labels.
// Express and Koa are CommonJS, so the cache has them for ES modules too. What a bundler has put into one file is not found.

const { followKoa, isKoaClass } = require('./koa-apps')
const { instrumentClass } = require('../../core/route/instrument-router')

/** @import { Instance } from '../../instance' */

const KOA = /[\\/]lib[\\/]application\.js(?:\?|$)/
const ROUTER = /[\\/]router[\\/]index\.js(?:\?|$)/

class Frameworks {
  /** @type {Set<NodeModule>} */
  #seen = new Set()
  #cache
  #instance

  /** @param {Instance} instance @param {NodeJS.Dict<NodeModule>} [cache] */
  constructor(instance, cache = require.cache) {
    this.#instance = instance
    this.#cache = cache
  }

  /** Looks at the modules that have come since. A module that is still loading is looked at again. */
  instrument() {
    for (const [file, module] of Object.entries(this.#cache)) {
      if (!module?.loaded || this.#seen.has(module)) continue
      this.#seen.add(module)
      if (KOA.test(file) && isKoaClass(module.exports)) followKoa(module.exports, this.#instance)
      else if (ROUTER.test(file)) {
        const router = routerIn(module.exports)
        if (router !== undefined) instrumentClass(router)
      }
    }
  }
}

/** Express 4 exports the prototype of its routers, the package `router` a class. @param {unknown} given */
function routerIn(given) {
  if (typeof given !== 'function') return undefined
  return [given, given.prototype].find(
    (each) => typeof each?.handle === 'function' && typeof each.route === 'function'
  )
}

exports.Frameworks = Frameworks
