'use strict'
// A session with the inspector of this thread, for the time of one profile. It opens no port, answers at once, and disconnects when the
// profile ends, whatever ended it. A thread has at most one session at a time.

const { isInspected } = require('../../core/environment/inspected')

let isOpen = false

class ProfilerSession {
  /** Whether a profile is being taken in this thread. */
  static get isOpen() {
    return isOpen
  }

  #session

  /** @param {string} domain such as `Profiler` */
  constructor(domain) {
    if (isOpen || isInspected()) throw new Error('the inspector is in use')
    const { Session } = require('node:inspector')
    this.#session = new Session()
    this.#session.connect()
    isOpen = true
    process.once('exit', this.close)
    try {
      this.post(`${domain}.enable`)
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** @param {string} method @param {object} [params] @returns {any} */
  post(method, params = {}) {
    let answer
    // A session of the own thread calls back before `post` returns.
    this.#session.post(method, params, (error, result) => {
      answer = { error, result }
    })
    if (answer?.error) throw new Error(`${method}: ${answer.error.message}`)
    return answer?.result
  }

  close = () => {
    if (this.#session === undefined) return
    process.off('exit', this.close)
    this.#session.disconnect()
    this.#session = undefined
    isOpen = false
  }
}

exports.ProfilerSession = ProfilerSession
