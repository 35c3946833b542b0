'use strict'
// A `node:cluster` whose workers do what a test says, so that they die, hang and answer at a moment of its
// choosing.

const { EventEmitter } = require('node:events')

class MadeUpWorker extends EventEmitter {
  /** What the primary has sent. */
  told = []
  hasDisconnected = false
  #isDead = false

  constructor(id, hasProcess) {
    super()
    this.id = id
    this.process = { pid: hasProcess ? 1000 + id : undefined, kill: (signal) => this.exit(null, signal) }
  }

  send(message) {
    this.told.push(message)
  }

  disconnect() {
    this.hasDisconnected = true
  }

  isDead() {
    return this.#isDead
  }

  /** With one instance of spillway in it. */
  listen() {
    this.say('starting')
    this.say('ready')
    this.emit('listening', { port: 3000 })
  }

  say(type, details) {
    this.emit('message', { type: `spillway:${type}`, ...details })
  }

  exit(code = 0, signal = null) {
    this.#isDead = true
    this.emit('exit', code, signal)
  }

  /** As Node tells it at the process limit: there is an error, and never an exit. */
  failToSpawn() {
    this.#isDead = true
    this.emit('error', Object.assign(new Error('spawn EAGAIN'), { code: 'EAGAIN' }))
  }

  get isTold() {
    return this.told.some(({ type }) => type === 'spillway:go')
  }
}

class MadeUpCluster {
  isPrimary = true
  /** All there have ever been, in order. */
  workers = []
  settings = []
  /** Whether there is a process left to be had. */
  canSpawn = true
  /** What a fork throws. */
  failure

  fork() {
    if (this.failure !== undefined) throw this.failure
    const worker = new MadeUpWorker(this.workers.length + 1, this.canSpawn)
    this.workers.push(worker)
    return worker
  }

  setupPrimary(settings) {
    this.settings.push(settings)
  }

  get alive() {
    return this.workers.filter((worker) => !worker.isDead())
  }
}

module.exports = { MadeUpCluster }
