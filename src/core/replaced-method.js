'use strict'
// Replaces a method of an object of the user, such as a pool or a socket, and restores it. Nothing is changed
// in a prototype. Several instances may replace the same method. Each replacement knows the next inner one,
// so any of them can be removed from the middle. If other code has wrapped the replacement since, the
// replacement stays and only passes calls on. The same holds for an object that has been frozen since.

const KEY = Symbol.for('spillway.replacedMethods')

/**
 * The replaced methods, by the function that replaces each.
 *
 * @typedef {WeakMap<Function, Pick<ReplacedMethod, 'inner' | 'before'>>} Replacements
 */

/** All copies of this package in the process share it, since they may observe the same object. */
const shared = /** @type {Record<symbol, Replacements>} */ (/** @type {unknown} */ (globalThis))
shared[KEY] ??= new WeakMap()
const replacements = shared[KEY]

class ReplacedMethod {
  /** The original method. @type {Function} */
  inner
  /** @type {Record<string, Function>} */
  #target
  #name
  #outer
  /** The property as it was on the object itself, if it was there. @type {PropertyDescriptor | undefined} */
  before

  /**
   * @param {object} target
   * @param {string} name
   * @param {(method: ReplacedMethod) => Function} replace makes the function, which calls `method.inner`
   */
  constructor(target, name, replace) {
    this.#target = /** @type {Record<string, Function>} */ (target)
    this.#name = name
    this.inner = /** @type {Record<string, Function>} */ (target)[name]
    this.before = Object.getOwnPropertyDescriptor(target, name)
    this.#outer = replace(this)
    replacements.set(this.#outer, this)
    const enumerable = this.before?.enumerable ?? false
    Object.defineProperty(target, name, {
      value: this.#outer,
      configurable: true,
      writable: true,
      enumerable,
    })
  }

  restore() {
    const current = this.#target[this.#name]
    if (current === this.#outer) return this.#putBack()
    let above = replacements.get(current)
    while (above !== undefined && above.inner !== this.#outer) above = replacements.get(above.inner)
    if (above === undefined) return
    above.inner = this.inner
    above.before = this.before
  }

  #putBack() {
    if (this.before === undefined) Reflect.deleteProperty(this.#target, this.#name)
    else Reflect.defineProperty(this.#target, this.#name, this.before)
  }
}

/**
 * Gives a replacement the name and the number of parameters of the original, since some code reads them. This
 * takes 3 µs, which is too much for an object that each request has.
 *
 * @template {Function} Outer
 * @param {Outer} outer @param {Function} inner
 */
function likeOriginal(outer, { name, length }) {
  Object.defineProperties(outer, {
    name: { value: name, configurable: true },
    length: { value: length, configurable: true },
  })
  return outer
}

exports.ReplacedMethod = ReplacedMethod
exports.likeOriginal = likeOriginal
