'use strict'
// One worker as its primary sees it: starting, ready, leaving, gone. It is ready when it listens and every instance of
// spillway in it has said so, or there is none.

const { DEGRADED, GO, PRIMARY_VARIABLE, READY, STARTING, send, typeOf } = require('./messages')

class ClusterWorker {
  id
  pid
  bornMs
  isReady = false
  isLeaving = false
  wasKilled = false
  #worker
  #clock
  #isListening = false
  #isDegraded = false
  #isOurs = false
  #isGone = false
  #starting = 0
  #tell

  /**
   * @param {typeof import('node:cluster').default} cluster
   * @param {any} clock
   * @param {{ onReady: (worker: ClusterWorker) => void, onDegraded: (worker: ClusterWorker, reason: string) => void,
   *   onGone: (worker: ClusterWorker, how: { code: number | null, signal: string | null, error?: Error }) => void }} tell
   */
  constructor(cluster, clock, tell) {
    this.#clock = clock
    this.#tell = tell
    this.bornMs = clock.now()
    const worker = cluster.fork({ [PRIMARY_VARIABLE]: '1' })
    this.#worker = worker
    this.id = worker.id
    this.pid = worker.process.pid
    worker.on('message', (message) => this.#heed(message))
    worker.on('listening', () => {
      this.#isListening = true
      this.#look()
    })
    worker.once('exit', (code, signal) => this.#go({ code, signal }))
    // What cannot be sent ends in an exit, or in the deadline of who waits. What cannot be spawned never exits.
    worker.on('error', (error) => {
      if (this.pid === undefined) this.#go({ code: null, signal: null, error })
    })
  }

  get state() {
    return this.isLeaving ? 'leaving' : this.isReady ? 'ready' : 'starting'
  }

  /**
   * Told to go: it drains, or does what Node has for a worker without spillway. Who has not gone in time is killed.
   *
   * @param {{ reason: string, signal?: string }} order `signal`: the primary's own, by which a worker knows how to drain
   */
  leave(order, killTimeoutMs) {
    if (this.isLeaving) return
    this.isLeaving = true
    if (this.#isOurs) send(this.#worker, GO, order)
    else this.#worker.disconnect()
    this.#clock.after(killTimeoutMs, () => this.kill())
  }

  kill() {
    if (this.#worker.isDead()) return
    this.wasKilled = true
    this.#worker.process.kill('SIGKILL')
  }

  #heed(message) {
    const type = typeOf(message)
    if (type === STARTING) {
      this.#isOurs = true
      this.#starting++
    } else if (type === READY) this.#starting--
    else if (type === DEGRADED && !this.#isDegraded) {
      this.#isDegraded = true
      this.#tell.onDegraded(this, String(message.reason))
    }
    if (type === READY) this.#look()
  }

  #go(how) {
    if (this.#isGone) return
    this.#isGone = true
    this.#tell.onGone(this, how)
  }

  #look() {
    if (this.isReady || !this.#isListening || this.#starting > 0) return
    this.isReady = true
    this.#tell.onReady(this)
  }
}

module.exports = { ClusterWorker }
