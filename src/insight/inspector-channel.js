'use strict'
// How the watching thread has the watched thread call a function, in the middle of whatever it runs: by an inspector session, of the main
// thread directly, of a worker thread through the main thread's inspector. No debugger is enabled, so nothing pauses, and code is
// optimized as without.

/** @typedef {typeof import('node:inspector').Session} SessionClass */

const paramsOf = (expression) => ({ expression, silent: true, returnByValue: true })

class DirectChannel {
  #session

  /** @param {SessionClass} Session */
  constructor(Session) {
    this.#session = new Session()
  }

  open() {
    this.#session.connectToMainThread()
  }

  /** @param {string} expression @param {() => void} onAsked called when the question is on its way to the thread */
  evaluate(expression, onAsked) {
    onAsked()
    this.#session.post('Runtime.evaluate', paramsOf(expression))
  }

  close() {
    this.#session.disconnect()
  }
}

/**
 * Connected only while it asks: the main thread, which may know nothing of us, must find no session when it exits, or Node waits for
 * it and says so.
 */
class WorkerChannel {
  #Session
  #target
  #session

  /** @param {SessionClass} Session @param {number} target the id of the thread */
  constructor(Session, target) {
    this.#Session = Session
    this.#target = target
  }

  open() {}

  /** @param {string} expression @param {() => void} onAsked */
  evaluate(expression, onAsked) {
    this.close()
    const session = (this.#session = new this.#Session())
    session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
      if (Number(/\[worker (\d+)\]/.exec(workerInfo.title)?.[1]) !== this.#target) return
      onAsked()
      const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: paramsOf(expression) })
      session.post('NodeWorker.sendMessageToWorker', { sessionId, message })
    })
    // The one message is the answer.
    session.on('NodeWorker.receivedMessageFromWorker', () => this.close())
    session.connectToMainThread()
    session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
  }

  close() {
    this.#session?.disconnect()
    this.#session = undefined
  }
}

module.exports = { DirectChannel, WorkerChannel }
