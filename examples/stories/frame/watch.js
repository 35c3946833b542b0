'use strict'
// Asks the admin server of an application once a second, as a person with curl would: its memory, what the
// doctor finds, what has stalled the loop. The last answers are kept: an application that ends takes its
// figures with it.

const EVERY_MS = 1000
/** An event loop that is blocked for seconds answers late. */
const PATIENCE_MS = 15_000

class Watch {
  /** The latest findings of the doctor. @type {any[]} */
  findings = []
  /**
   * Every problem that it has found, with the first finding of each, or the first that names a route.
   *
   * @type {Map<string, any>}
   */
  found = new Map()
  /** @type {any} */
  snapshot
  /** @type {{ second: number, rssBytes: number, heapBytes: number }[]} */
  memory = []
  /** The profiles that were taken so far. @type {any[]} */
  profiles = []
  #application
  #isResting = false
  #isEnding = false
  #startedMs = performance.now()
  #timer
  #asking = Promise.resolve()

  /** @param {import('./application').Application} application */
  constructor(application) {
    this.#application = application
    this.#schedule()
  }

  get url() {
    return this.#application.adminUrls.at(-1)
  }

  /** Asks once more, and ends. */
  async end() {
    // The timer may have fired already, and would start the next one after its answer.
    this.#isEnding = true
    clearTimeout(this.#timer)
    await this.#asking
    await this.#ask()
  }

  /**
   * Asks nothing until the work is done, so that a profile shows the application and not the answers to this.
   *
   * @returns {Promise<any>}
   */
  async restDuring(work) {
    this.#isResting = true
    try {
      await this.#asking
      return await work()
    } finally {
      this.#isResting = false
    }
  }

  /** A page of the admin server. @returns {Promise<any>} */
  async get(page, options = {}) {
    const answer = await fetch(`${this.url}${page}`, { signal: AbortSignal.timeout(PATIENCE_MS), ...options })
    if (!answer.ok) throw new Error(`${page} answered ${answer.status}`)
    return answer.json()
  }

  #schedule() {
    this.#timer = setTimeout(async () => {
      if (!this.#isResting) this.#asking = this.#ask()
      await this.#asking
      if (!this.#isEnding && !this.#application.ended) this.#schedule()
    }, EVERY_MS)
  }

  async #ask() {
    if (this.#application.ended) return
    try {
      const second = (performance.now() - this.#startedMs) / 1000
      const [snapshot, doctor] = await Promise.all([this.get('/snapshot'), this.get('/doctor')])
      this.snapshot = snapshot
      const { heap, memory } = snapshot.runtime
      this.memory.push({ second, rssBytes: memory.rssBytes, heapBytes: heap.afterGcBytes ?? heap.usedBytes })
      if (doctor.healthy === null) return
      this.findings = doctor.findings
      for (const finding of doctor.findings) this.#keep(finding, second)
    } catch {
      // It ends, or is too busy: the next answer is a second away.
    }
  }

  #keep(finding, second) {
    const known = this.found.get(finding.problem)
    if (known !== undefined && (known.route !== null || finding.route === null)) return
    this.found.set(finding.problem, { ...finding, second: known?.second ?? second })
  }
}

module.exports = { Watch }
