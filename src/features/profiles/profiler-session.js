'use strict'
// A session with the inspector of this thread, for the time of one profile. The session opens no port,
// answers at once, and disconnects when the profile ends for any reason. A thread has at most one session at
// a time.

const { isInspected } = require('../../core/environment/inspected')

/**
 * @import { Session } from 'node:inspector'
 * @import { CpuProfile, HeapProfile } from './profile-tree'
 * @typedef {{ 'Profiler.stop': { profile: CpuProfile },
 *   'HeapProfiler.getSamplingProfile': { profile: HeapProfile },
 *   'HeapProfiler.stopSampling': { profile: HeapProfile } }} Answers the answers that are read
 */

let isOpen = false

class ProfilerSession {
  /** Whether a profile is being taken in this thread. */
  static get isOpen() {
    return isOpen
  }

  /** Undefined when it is closed. @type {Session | undefined} */
  #session

  /** @param {string} domain such as `Profiler` */
  constructor(domain) {
    if (isOpen || isInspected()) throw new Error('the inspector is in use')
    const { Session } = require('node:inspector')
    const session = new Session()
    session.connect()
    this.#session = session
    isOpen = true
    process.once('exit', this.close)
    try {
      this.post(`${domain}.enable`)
    } catch (error) {
      this.close()
      throw error
    }
  }

  /**
   * @template {string} Method
   * @param {Method} method
   * @param {object} [params]
   * @returns {Method extends keyof Answers ? Answers[Method] : unknown}
   */
  post(method, params = {}) {
    /** @type {any} */
    let answer
    // A session of the own thread calls back before `post` returns.
    const session = /** @type {Session} */ (this.#session)
    session.post(method, params, (error, result) => {
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
