'use strict'
// One rendering of all there is to show, for as many readers as share it. It is made piece by piece, as the foremost of
// them asks for the next. The pieces are a chain: a reader holds the one it is at, and with it those to come, but none behind.

const { FIRST } = require('./scrape-budget')

/** @typedef {{ bytes: Buffer, next: Link | undefined }} Link */

const NOTHING = Buffer.alloc(0)
/** @type {Link} */
const END = Object.freeze({ bytes: NOTHING, next: undefined })
/** @returns {Link} */
const linkOf = (bytes) => ({ bytes, next: undefined })

class Rendering {
  startedMs
  hasFailed = false
  #pieces
  #budget
  #step = () => this.#pieces.next()
  #last = linkOf(NOTHING)
  /** Before the first piece, for as long as somebody may join. @type {Link | undefined} */
  #first = this.#last
  /** The next piece, while it is made; of one that has failed its failure, for whoever comes to it later. */
  #coming
  #readers = new Set()

  /**
   * @param {AsyncIterator<string | Buffer>} pieces strings of a byte a character; an empty piece only gives the loop its turn
   * @param {{ startedMs: number, budget: InstanceType<typeof import('./scrape-budget').ScrapeBudget> }} parts
   */
  constructor(pieces, { startedMs, budget }) {
    this.#pieces = pieces
    this.#budget = budget
    this.startedMs = startedMs
  }

  /** Whether its readers wait for it, and not it for them. */
  get isUnderWay() {
    return this.#coming !== undefined && !this.hasFailed
  }

  get isRead() {
    return this.#readers.size > 0
  }

  /** @param {{ cut(): void }} reader @returns {Link} where it begins; not after `close` */
  join(reader) {
    this.#readers.add(reader)
    return /** @type {Link} */ (this.#first)
  }

  leave(reader) {
    this.#readers.delete(reader)
    this.#stopUnread()
  }

  /** Nobody joins any more: what all have read is let go. */
  close() {
    this.#first = undefined
    this.#stopUnread()
  }

  /** Its readers are cut off. */
  cut() {
    for (const reader of this.#readers) reader.cut()
  }

  /** @param {Link} link @returns {Link | Promise<Link>} what follows it; `END` after the last piece */
  after(link) {
    if (link.next !== undefined) return link.next
    this.#coming ??= this.#make()
    return this.#coming
  }

  async #make() {
    try {
      for (;;) {
        // First, for all of its readers wait for it. At once where nothing has to be waited for: the instant is that of the question.
        const { done, value } = await this.#budget.run(FIRST, this.#step)
        if (done) return this.#append(END)
        if (value.length > 0) return this.#append(linkOf(bytesOf(value)))
      }
    } catch (error) {
      this.hasFailed = true
      throw error
    }
  }

  #append(link) {
    this.#coming = undefined
    this.#last.next = link
    this.#last = link
    return link
  }

  /** A metric that is being collected ends first. */
  #stopUnread() {
    if (this.#first !== undefined || this.isRead) return
    // What it fails with then has no reader left whom it could reach.
    this.#pieces.return?.()?.then(undefined, () => {})
  }
}

/** Once for all readers. */
const bytesOf = (piece) => (typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)

module.exports = { END, Rendering }
