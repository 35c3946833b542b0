'use strict'
// Finds the global registries of the client libraries that the application has loaded: prom-client,
// @prometheus-io/client, and each further copy of either. They are looked up in Node's cache of CommonJS
// modules, which also holds what ES modules import. So Spillway loads no client library that the application
// does not use.

/** @import { Registry } from './registry-points' */

/** Both libraries keep their registry in this file, whichever folder a package manager puts them into. */
const FILE = /[\\/]lib[\\/]registry\.js(?:\?|$)/
/** In a bundle, the module has no `filename`. @type {{ filename?: string, exports: unknown }} */
const own = module
const METHODS = ['getMetricsAsArray', 'getMetricsAsJSON', 'getSingleMetric']

/** @typedef {{ registry: Registry, folder: string }} GlobalRegistry `folder`: the folder of the library */

/**
 * @param {NodeJS.Dict<NodeModule>} [cache]
 * @returns {GlobalRegistry[]} prom-client's first, the others in the order of loading
 */
function globalRegistries(cache = require.cache) {
  if (!holdsThisFile(cache)) return [ofBundle()]
  /** @type {GlobalRegistry[]} */
  const found = []
  for (const file in cache) {
    // A test for the suffix is cheaper than the expression, and there are thousands of files.
    if (!file.includes('registry.js') || !FILE.test(file)) continue
    const registry = globalOf(cache[file]?.exports)
    if (registry !== undefined) found.push({ registry, folder: file.replace(/[\\/]lib[\\/][^\\/]*$/, '') })
  }
  return found.sort((a, b) => Number(isSuccessor(a)) - Number(isSuccessor(b)))
}

/**
 * Whether Node's cache has this file. In a bundle it does not, and neither does it if a loader hook supplies
 * the source of CommonJS modules. In both cases the application's prom-client is not in the cache either.
 *
 * @param {NodeJS.Dict<NodeModule> | undefined} cache
 */
const holdsThisFile = (cache) => cache?.[own.filename ?? '']?.exports === own.exports

/** The registry of the copy that the bundle or the loader shares with the application. */
const ofBundle = () => ({
  registry: /** @type {Registry} */ (/** @type {unknown} */ (require('prom-client').register)),
  folder: 'prom-client',
})

/** @param {unknown} Class what the file exports @returns {Registry | undefined} */
function globalOf(Class) {
  if (typeof Class !== 'function') return undefined
  try {
    const { globalRegistry: given } = /** @type {{ globalRegistry?: Record<string, unknown> }} */ (
      /** @type {unknown} */ (Class)
    )
    const isRegistry = METHODS.every((name) => typeof given?.[name] === 'function')
    return isRegistry ? /** @type {Registry} */ (/** @type {unknown} */ (given)) : undefined
  } catch {
    // The file belongs to another library and has the same name.
    return undefined
  }
}

/** @param {GlobalRegistry} found */
const isSuccessor = ({ folder }) => /[\\/]@prometheus-io[\\/]client$/.test(folder)

module.exports = { globalRegistries }
