'use strict'
// The application of a story, as a process of its own: where it serves, what it has logged, and how it ended.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const readline = require('node:readline')

const PRELOAD = path.join(__dirname, 'end-with-parent.js')
const SERVING = /^Serving (http:\/\/127\.0\.0\.1:\d+)/
const ADMIN = /^Admin server at (http:\/\/127\.0\.0\.1:\d+)/
const START_MS = 60_000
const STOP_MS = 5000
const MAX_LINES = 5000

class Application {
  /** Where it serves. */
  url
  /** Its admin servers: of a cluster each worker has one, the newest last. @type {string[]} */
  adminUrls = []
  /** Lines that the application has logged, as objects. @type {any[]} */
  logged = []
  /** Other lines that the application has written. @type {string[]} */
  lines = []
  /** @type {{ code: number | null, signal: string | null, afterMs: number } | undefined} */
  ended
  #child
  #startedMs = performance.now()
  #isStopping = false
  #onLine = () => {}

  /** @param {{ file: string, args?: string[], env?: Record<string, string>, nodeFlags?: string[] }} given */
  constructor({ file, args = [], env = {}, nodeFlags = [] }) {
    const { NODE_OPTIONS, FORCE_COLOR, ...outer } = process.env
    this.#child = spawn(process.execPath, [...nodeFlags, '--require', PRELOAD, file, ...args], {
      env: { ...outer, NODE_ENV: 'production', PORT: '0', ADMIN_PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    for (const stream of [this.#child.stdout, this.#child.stderr])
      readline.createInterface({ input: stream }).on('line', (line) => this.#read(line))
    this.closed = once(this.#child, 'close').then(([code, signal]) => {
      this.ended = { code, signal, afterMs: performance.now() - this.#startedMs }
      this.#onLine()
    })
  }

  /** Resolves when the application serves and its admin server answers. */
  async ready() {
    const late = setTimeout(() => this.#child.kill('SIGKILL'), START_MS)
    await new Promise((resolve) => {
      this.#onLine = () => {
        if (this.ended || (this.url !== undefined && this.adminUrls.length > 0)) resolve(undefined)
      }
      this.#onLine()
    })
    clearTimeout(late)
    if (this.ended) throw new Error(`The application ended before it served:\n${this.lines.join('\n')}`)
    return this
  }

  /** Whether it ended by itself. */
  get hasCrashed() {
    return this.ended !== undefined && !this.#isStopping
  }

  async stop() {
    this.#isStopping ||= this.ended === undefined
    if (this.ended !== undefined) return
    this.#child.kill('SIGTERM')
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS)
    await this.closed
    clearTimeout(timer)
  }

  #read(line) {
    this.url ??= line.match(SERVING)?.[1]
    const admin = line.match(ADMIN)?.[1]
    if (admin !== undefined) this.adminUrls.push(admin)
    const fields = line.startsWith('{') ? parsed(line) : undefined
    const kept = fields === undefined ? this.lines : this.logged
    if (kept.length < MAX_LINES) kept.push(fields ?? line)
    this.#onLine()
  }
}

function parsed(line) {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

module.exports = { Application }
