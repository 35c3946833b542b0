'use strict'
// One rendering of all metrics, shared by its readers. A piece is made when the first reader needs it, and
// the others reuse it. The pieces form a linked chain: the position of a reader keeps what follows in memory,
// and nothing before.

const { FIRST_IN_LINE } = require('./scrape-budget')

/**
 * @import { Reader } from './blocked-readers'
 * @import { ScrapeBudget } from './scrape-budget'
 */
/** @typedef {{ bytes: Buffer, next: Link | undefined }} Link */

const NOTHING = Buffer.alloc(0)
/** @type {Link} */
const END = Object.freeze({ bytes: NOTHING, next: undefined })
/** @param {Buffer} bytes @returns {Link} */
const linkOf = (bytes) => ({ bytes, next: undefined })

class Rendering {
  startedMs
  hasFailed = false
  #pieces
  #budget
  #step = () => this.#pieces.next()
  #last = linkOf(NOTHING)
  /** The link before the first piece, while readers may still join. @type {Link | undefined} */
  #first = this.#last
  /**
   * The next link while it is being made. A failed rendering keeps the rejected promise for readers that
   * arrive later.
   *
   * @type {Promise<Link> | undefined}
   */
  #pending
  /** @type {Set<Reader>} */
  #readers = new Set()

  /**
   * @param {AsyncIterator<string | Buffer>} pieces strings are latin1; an empty piece only yields to the
   *   event loop
   * @param {{ startedMs: number, budget: ScrapeBudget }} deps
   */
  constructor(pieces, { startedMs, budget }) {
    this.#pieces = pieces
    this.#budget = budget
    this.startedMs = startedMs
  }

  /** Whether readers wait for the next piece. */
  get isInProgress() {
    return this.#pending !== undefined && !this.hasFailed
  }

  get isRead() {
    return this.#readers.size > 0
  }

  /**
   * @param {Reader} reader
   * @returns {Link} the link before the first piece; must not be called after `close()`
   */
  join(reader) {
    this.#readers.add(reader)
    return /** @type {Link} */ (this.#first)
  }

  /** @param {Reader} reader */
  leave(reader) {
    this.#readers.delete(reader)
    this.#stopUnread()
  }

  /** No reader joins from now on, so pieces that all readers have passed become garbage. */
  close() {
    this.#first = undefined
    this.#stopUnread()
  }

  disconnectReaders() {
    for (const reader of this.#readers) reader.disconnect()
  }

  /** @param {Link} link @returns {Link | Promise<Link>} the following link; `END` after the last piece */
  after(link) {
    if (link.next !== undefined) return link.next
    this.#pending ??= this.#make()
    return this.#pending
  }

  async #make() {
    try {
      for (;;) {
        // The step goes before all writers, which wait for this piece. If the budget allows, the capture
        // happens at the time of the request.
        const { done, value } = await this.#budget.run(FIRST_IN_LINE, this.#step)
        if (done) return this.#append(END)
        if (value.length > 0) return this.#append(linkOf(bytesOf(value)))
      }
    } catch (error) {
      this.hasFailed = true
      throw error
    }
  }

  /** @param {Link} link */
  #append(link) {
    this.#pending = undefined
    this.#last.next = link
    this.#last = link
    return link
  }

  /** Ends the generator after the metric that is being collected. */
  #stopUnread() {
    if (this.#first !== undefined || this.isRead) return
    // No reader is left that could receive an error.
    this.#pieces.return?.()?.then(undefined, () => {})
  }
}

/** Encodes a piece once for all readers. @param {string | Buffer} piece */
const bytesOf = (piece) => (typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)

exports.END = END
exports.Rendering = Rendering
