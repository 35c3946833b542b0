'use strict'
// How the watching thread speaks to the debugger of the thread it watches: of the main thread directly, of a worker thread through
// the main thread's inspector.

/** @typedef {(method: string, params: any) => void} OnEvent */
/** @typedef {typeof import('node:inspector').Session} SessionClass */

/** Connected for as long as it watches: to enable the debugger anew costs more with each script that is loaded. */
class DirectChannel {
  #session

  /** @param {SessionClass} Session @param {OnEvent} onEvent */
  constructor(Session, onEvent) {
    this.#session = new Session()
    for (const method of ['Debugger.scriptParsed', 'Debugger.paused'])
      this.#session.on(method, ({ params }) => onEvent(method, params))
  }

  open() {
    this.#session.connectToMainThread()
    this.#session.post('Debugger.enable')
    this.#session.post('Debugger.setAsyncCallStackDepth', { maxDepth: 0 })
  }

  /** @param {() => void} onAsked called when the question is on its way to the thread */
  pause(onAsked) {
    this.#session.post('Debugger.pause')
    onAsked()
  }

  evaluate(callFrameId, expression) {
    this.#session.post('Debugger.evaluateOnCallFrame', {
      callFrameId,
      expression,
      silent: true,
      returnByValue: true,
    })
  }

  resume(onDone) {
    this.#session.post('Debugger.resume', onDone)
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
  #onEvent
  #session
  #sessionId
  #lastId = 0

  /** @param {SessionClass} Session @param {number} target the id of the thread @param {OnEvent} onEvent */
  constructor(Session, target, onEvent) {
    this.#Session = Session
    this.#target = target
    this.#onEvent = onEvent
  }

  open() {}

  /** @param {() => void} onAsked */
  pause(onAsked) {
    this.close()
    const session = (this.#session = new this.#Session())
    session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
      if (Number(/\[worker (\d+)\]/.exec(workerInfo.title)?.[1]) !== this.#target) return
      this.#sessionId = sessionId
      this.#send('Debugger.enable')
      this.#send('Debugger.pause')
      onAsked()
    })
    session.on('NodeWorker.receivedMessageFromWorker', ({ params: { sessionId, message } }) => {
      if (sessionId !== this.#sessionId) return
      const { method, params } = JSON.parse(message)
      if (method !== undefined) this.#onEvent(method, params)
    })
    session.connectToMainThread()
    session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
  }

  evaluate(callFrameId, expression) {
    const params = { callFrameId, expression, silent: true, returnByValue: true }
    this.#send('Debugger.evaluateOnCallFrame', params)
  }

  /** Disconnects without an answer: a thread that goes on may end the process, and then no session may be left. */
  resume(onDone) {
    this.#send('Debugger.resume')
    this.close()
    onDone()
  }

  #send(method, params) {
    const message = JSON.stringify({ id: ++this.#lastId, method, params })
    this.#session.post('NodeWorker.sendMessageToWorker', { sessionId: this.#sessionId, message })
  }

  close() {
    this.#session?.disconnect()
    this.#session = undefined
    this.#sessionId = undefined
  }
}

module.exports = { DirectChannel, WorkerChannel }
