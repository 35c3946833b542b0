'use strict'
// A part that is made, and whose files are loaded, when it is first used.

/** @template Part */
class Lazy {
  /** The part, once it was used. @type {Part | undefined} */
  made
  #make

  /** @param {() => Part} make */
  constructor(make) {
    this.#make = make
  }

  /** @returns {Part} */
  get value() {
    this.load()
    return /** @type {Part} */ (this.made)
  }

  load() {
    if (this.made === undefined) this.made = this.#make()
  }
}

exports.Lazy = Lazy
