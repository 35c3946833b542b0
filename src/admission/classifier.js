'use strict'
// Which class is this request of? The user's word, once a request. A function that throws, or a word that is no class,
// makes it normal and is reported once: a typo in a rule must not shut anybody out, nor let everybody in.

const { NORMAL, priorityIndex } = require('./priority')

class Classifier {
  #classify
  #faults

  constructor(faults) {
    this.#faults = faults
  }

  update({ classify }) {
    this.#classify = classify
  }

  /** @returns {number} an index into PRIORITIES */
  of(req) {
    if (this.#classify === undefined) return NORMAL
    try {
      const name = this.#classify(req)
      const index = priorityIndex(name)
      if (index !== undefined) return index
      this.#faults.heed('shed.classify', name)
      this.#faults.report(
        'shed.classify',
        new Error(`'${String(name)}' is no class; the request counts as normal`)
      )
    } catch (error) {
      this.#faults.report('shed.classify', error)
    }
    return NORMAL
  }
}

module.exports = { Classifier }
