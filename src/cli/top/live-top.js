'use strict'
// `spillway top` on a terminal: draws after each answer, key and change of the size, until q, Ctrl-C or a
// signal. The terminal is restored whatever happens.

const { EXIT } = require('../command-error')
const { Feed } = require('./feed')
const { Screen, keysOf } = require('./terminal')
const { View } = require('./view')

/** Signals that end the process after the terminal is restored. */
const FATAL = /** @type {const} */ (['SIGTERM', 'SIGHUP', 'SIGQUIT'])

class LiveTop {
  #context
  #feed
  #view
  #screen
  /** @type {(code: number) => void} */
  #end = (_code) => {}
  /** @type {(error: unknown) => void} */
  #fail = (_error) => {}

  /** @param {import('../command-line').Context} context @param {string} sort */
  constructor(context, sort) {
    const { client, clock, out, stdin } = context
    this.#context = context
    this.#feed = new Feed({ client, clock })
    this.#view = new View({ out, url: client.url, feed: this.#feed, sort })
    this.#screen = new Screen({ out, stdin })
  }

  /** @returns {Promise<number>} the exit code */
  async run() {
    await this.#feed.open()
    /** @type {Promise<number>} */
    const ended = new Promise((resolve, reject) => {
      this.#end = resolve
      this.#fail = reject
    })
    const { stdin, out } = this.#context
    const stopSignals = this.#listenToSignals()
    const stopResize = out.onResize(this.#draw)
    stdin.on('data', this.#onInput).setEncoding('utf8')
    try {
      this.#screen.enter()
      this.#draw()
      this.#feed.start(this.#draw)
      void this.#feed.recall(this.#draw)
      return await ended
    } finally {
      this.#screen.leave()
      this.#feed.stop()
      stopResize()
      stopSignals()
      stdin.off('data', this.#onInput).pause()
    }
  }

  #listenToSignals() {
    const { signals } = this.#context
    const listeners = /** @type {[NodeJS.Signals, () => void][]} */ ([
      ['SIGINT', () => this.#end(EXIT.done)],
      ['SIGCONT', () => this.#reopen()],
      ...FATAL.map((name) => [name, () => this.#dieBy(name)]),
    ])
    for (const [name, listener] of listeners) signals.on(name, listener)
    return () => {
      for (const [name, listener] of listeners) signals.off(name, listener)
    }
  }

  /**
   * Ends by the signal itself, so that the parent process sees which signal it was.
   *
   * @param {NodeJS.Signals} name
   */
  #dieBy(name) {
    this.#end(EXIT.failed)
    this.#screen.leave()
    this.#context.clock.afterTurn(() => this.#context.signals.raise(name))
  }

  /** @param {string} input */
  #onInput = (input) => {
    for (const key of keysOf(input)) {
      if (key === 'quit') return this.#end(EXIT.done)
      if (key === 'suspend') this.#suspend()
      else this.#view.onKey(key)
    }
    this.#draw()
  }

  /** Does what Ctrl-Z does outside of raw mode. */
  #suspend() {
    this.#screen.leave()
    this.#context.signals.stopJob()
    this.#context.clock.afterTurn(() => this.#reopen())
  }

  /** A shell that continues a stopped process may have changed the mode of the terminal. */
  #reopen() {
    this.#screen.enter()
    this.#draw()
  }

  #draw = () => {
    try {
      this.#screen.draw(this.#view.lines())
    } catch (error) {
      this.#fail(error)
    }
  }
}

exports.LiveTop = LiveTop
