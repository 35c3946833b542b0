'use strict'
// The clients of the story: each connects, sends some messages, waits for the acknowledgement of each, and
// leaves. New ones come at a rate, whatever the server does, as visitors do. Four times are taken, because
// they are easily taken for each other.

const { setTimeout: delay } = require('node:timers/promises')
const { io } = require('socket.io-client')
const { receiveVisitors } = require('../frame/visitors')

const MESSAGES = 3
const PAUSE_MS = 300
/** How long a visitor waits. */
const TIMEOUT_MS = 5000
const MESSAGE = {
  place: { longitude: 127.25, latitude: 37.25 },
  metres: 5000,
  text: 'Has anybody seen my cat?',
}

const MESSAGE_PART = 'message, until acknowledged'
const OK = 200
const NO_ANSWER = 0
const REFUSED = 503

class Session {
  #socket
  #recorder
  isEnded = false

  constructor(url, recorder) {
    this.#recorder = recorder
    this.#socket = io(url, {
      transports: ['websocket'],
      forceNew: true,
      reconnection: false,
      timeout: TIMEOUT_MS,
    })
  }

  async live() {
    const startedMs = performance.now()
    const refusal = await this.#connected()
    if (refusal !== undefined) return
    let status = OK
    for (let sent = 0; sent < MESSAGES && status === OK && !this.isEnded; sent++) {
      status = await this.#send()
      await delay(PAUSE_MS)
    }
    this.#record('whole session, with its pauses', startedMs, status)
    this.end()
  }

  /** @returns {Promise<number | undefined>} the status of a failure */
  async #connected() {
    const startedMs = performance.now()
    const status = await new Promise((resolve) => {
      this.#socket.once('connect', () => resolve(OK))
      this.#socket.once('connect_error', (error) => resolve(statusOf(error)))
    })
    this.#record('connect', startedMs, status)
    return status === OK ? undefined : status
  }

  async #send() {
    const startedMs = performance.now()
    const acknowledged = this.#socket.timeout(TIMEOUT_MS).emitWithAck('loudspeaker', MESSAGE)
    this.#record('emit(), until it returns', startedMs, OK)
    const status = await acknowledged.then(
      () => OK,
      () => NO_ANSWER
    )
    this.#record(MESSAGE_PART, startedMs, status)
    return status
  }

  #record(name, startedMs, status) {
    if (!this.isEnded) this.#recorder.record(name, performance.now() - startedMs, status)
  }

  end() {
    this.isEnded = true
    this.#socket.disconnect()
  }
}

/** The client of Node says which status it got instead of 101 only in the text of the event. */
const statusOf = ({ message, description }) =>
  /503/.test(`${message} ${description?.message} ${description?.description}`) ? REFUSED : NO_ANSWER

receiveVisitors(
  (seconds, { perSecond }) => seconds * perSecond,
  ({ url }, recorder) => new Session(url, recorder),
  { shown: { part: MESSAGE_PART, label: 'messages until acknowledged' } }
)
