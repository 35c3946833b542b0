'use strict'
// Finds the request that the running code works for, with an AsyncLocalStorage. Where Node keeps async contexts in V8 (Node 24), that
// costs 0.2 µs a request, and every instance has one. Where Node keeps them by async hooks it costs up to 1.8 µs (Koa, Node 20),
// so it is created only if an option needs it.

const { AsyncLocalStorage } = require('node:async_hooks')
const { RequestReference } = require('../requests/request-reference')

/** Whether a context is cheap enough for every instance. A storage that uses async hooks has a symbol for its store. */
const isCheap =
  Number.parseInt(process.versions.node, 10) >= 24 && !('kResourceStore' in new AsyncLocalStorage())

class RequestContext {
  static isCheap = isCheap
  #storage = new AsyncLocalStorage()
  #recorder

  constructor(recorder) {
    this.#recorder = recorder
  }

  /** @returns {InstanceType<typeof RequestReference> | undefined} of the running code, also after the request has ended */
  get reference() {
    return this.#storage.getStore()
  }

  /** @returns {any} undefined once the request has ended */
  get request() {
    return this.reference?.request
  }

  /** Wraps a callback so that it runs in the context of the request. */
  bind(request, callback) {
    if (this.request === request) return callback
    return (given) => this.#run(request, callback, undefined, [given])
  }

  close() {
    this.#storage.disable()
  }

  /** Wraps a function so that it runs in the context of the request whose response is its last argument. */
  wrap(callback) {
    const context = this
    const recorder = this.#recorder
    /** @this {unknown} */
    return function (...given) {
      const request = recorder.find(given.at(-1))
      if (request === undefined || context.request === request) return callback.apply(this, given)
      return context.#run(request, callback, this, given)
    }
  }

  // Hot path where the context is cheap: once a request.
  #run(request, callback, self, given) {
    const storage = this.#storage
    const reference = (request.reference ??= new RequestReference(request))
    if (!isCheap || storage.getStore() !== undefined)
      return storage.run(reference, Reflect.apply, callback, self, given)
    // Node restores the context itself when the event that brought the request is over. To restore it here costs as much again.
    storage.enterWith(reference)
    return Reflect.apply(callback, self, given)
  }
}

module.exports = { RequestContext }
