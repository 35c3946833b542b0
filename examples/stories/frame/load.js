'use strict'
// Starts the clients of a story in a process of their own, and waits for what they saw. Any script that
// speaks as http-load.js does can take its place: it is sent { url, seconds, ... }, and answers
// { second, of, served, unanswered, errors, p99Ms } and then { report }.

const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')

const HTTP_LOAD = path.join(__dirname, 'http-load.js')

class Load {
  #child
  #isStopping = false
  /** Number of answers in each second so far. @type {number[]} */
  served = []
  /** The report, when the load has ended. @type {Promise<any>} */
  ended

  /**
   * @param {string} script
   * @param {object} message
   * @param {(progress: any) => void} onSecond
   */
  constructor(script, message, onSecond) {
    this.#child = fork(script, { execArgv: [] })
    this.#child.send(message)
    this.ended = this.#end(onSecond)
  }

  /** A second time changes nothing: the clients may have ended meanwhile. */
  stop() {
    if (this.#isStopping || !this.#child.connected) return
    this.#isStopping = true
    this.#child.send('stop', () => {})
  }

  async #end(onSecond) {
    let report
    this.#child.on('message', (message) => {
      report ??= message.report
      if (message.second === undefined) return
      this.served.push(message.served)
      onSecond(message)
    })
    // `exit` may come before the last message.
    const [[code, signal]] = await Promise.all([once(this.#child, 'exit'), once(this.#child, 'disconnect')])
    if (report === undefined) throw new Error(`The load ended early: ${signal ?? `exit code ${code}`}.`)
    return report
  }
}

module.exports = { HTTP_LOAD, Load }
