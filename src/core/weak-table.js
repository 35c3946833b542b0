'use strict'
// A map from servers, or from apps, that does not keep its keys in memory, and can be iterated. Some
// applications make a server per connection (`http.createServer(app).emit('connection', channel)` behind a
// tunnel), so a strong map would grow for ever.

/** @template {WeakKey} Key @template Value */
class WeakTable {
  /** A value may refer to its key. @type {WeakMap<Key, Value>} */
  #values = new WeakMap()
  /** @type {Set<WeakRef<Key>>} */
  #keys = new Set()
  #collected = new FinalizationRegistry((/** @type {WeakRef<Key>} */ ref) => this.#keys.delete(ref))

  /** @param {Key} key */
  has(key) {
    return this.#values.has(key)
  }

  /** @param {Key | undefined} key */
  get(key) {
    return this.#values.get(/** @type {Key} */ (key))
  }

  /** @param {Key} key @param {Value} value */
  set(key, value) {
    if (!this.#values.has(key)) {
      const ref = new WeakRef(key)
      this.#keys.add(ref)
      this.#collected.register(key, ref)
    }
    this.#values.set(key, value)
  }

  /** @returns {Generator<[Key, Value], void>} */
  *[Symbol.iterator]() {
    for (const ref of this.#keys) {
      const key = ref.deref()
      if (key !== undefined) yield [key, /** @type {Value} */ (this.#values.get(key))]
    }
  }

  clear() {
    this.#values = new WeakMap()
    this.#keys.clear()
  }
}

exports.WeakTable = WeakTable
