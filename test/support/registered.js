'use strict'
// A program in a process of its own, with spillway/register or without: its server's port, the address of the
// admin server, what it printed, and how it ended once its standard input did.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const path = require('node:path')
const { outsideTests } = require('./outside-tests')
const { oneValue, parse } = require('./metrics-text')

const REPOSITORY = path.join(__dirname, '..', '..')
const ADDRESS = /http:\/\/127\.0\.0\.1:\d+/

/** Node's flags, by how register gets into a process. */
const WAYS = {
  import: ['--import', 'spillway/register'],
  require: ['--require', 'spillway/register'],
  not: [],
}

class Program {
  stdout = ''
  stderr = ''
  #child
  #closed

  /**
   * @param {import('node:test').TestContext} t
   * @param {string[]} args of node
   * @param {{ way?: keyof typeof WAYS, env?: Record<string, string | undefined> }} [options]
   */
  constructor(t, args, { way = 'import', env = {} } = {}) {
    this.#child = spawn(process.execPath, [...WAYS[way], ...args], {
      cwd: REPOSITORY,
      env: outsideTests({ SPILLWAY_ADMIN_PORT: '0', ...env }),
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    t.after(() => this.#child.kill('SIGKILL'))
    for (const name of /** @type {const} */ (['stdout', 'stderr'])) {
      this.#child[name].setEncoding('utf8').on('data', (piece) => {
        this[name] += piece
        this.#child.emit('told')
      })
    }
    this.#closed = once(this.#child, 'close')
  }

  /**
   * Until it has printed what the pattern finds.
   *
   * @param {'stdout' | 'stderr'} name
   * @param {RegExp} pattern
   */
  async until(name, pattern) {
    for (;;) {
      const match = this[name].match(pattern)
      if (match !== null) return match
      if (this.#child.exitCode !== null) throw new Error(`it ended: ${this.stdout}\n${this.stderr}`)
      await Promise.race([once(this.#child, 'told'), this.#closed])
    }
  }

  /** @returns {Promise<number>} */
  async port() {
    return Number((await this.until('stdout', /port (\d+)/))[1])
  }

  /** Every port it has told, once there are so many. */
  async ports(count) {
    for (;;) {
      const found = [...this.stdout.matchAll(/port (\d+)/g)].map(([, port]) => Number(port))
      if (found.length >= count) return found
      await once(this.#child, 'told')
    }
  }

  /** The address in the line that register prints. */
  async admin() {
    return (await this.until('stderr', ADDRESS))[0]
  }

  /**
   * The lines of spillway, which are JSON where standard error is no terminal. A machine that is busy stalls
   * a process while it starts, so lines about stalls are left out.
   */
  get lines() {
    return this.stderr
      .split('\n')
      .filter((line) => line.includes('"spillway"'))
      .map((line) => JSON.parse(line))
      .filter(({ event }) => event !== 'stall')
  }

  async metrics() {
    return parse((await get(`${await this.admin()}/metrics`)).body)
  }

  /**
   * Waits until requests with these labels are counted, which follows their answers. There must be no more
   * than `count`.
   */
  async untilCounted(labels, count = 1) {
    for (;;) {
      const families = await this.metrics()
      try {
        const counted = oneValue(families, 'spillway_requests_total', labels)
        if (counted > count) throw new Error(`${counted} requests are counted, not ${count}`)
        if (counted === count) return
      } catch (/** @type {any} */ error) {
        // There is no such series yet.
        if (!error.message.startsWith('0 values')) throw error
      }
      await new Promise((resolve) => setTimeout(resolve, 60))
    }
  }

  write(text) {
    this.#child.stdin.write(text)
  }

  /** Ends it by a signal, while its standard input stays open. */
  async kill(signal) {
    this.#child.kill(signal)
    const [code, endedBy] = await this.#closed
    return { code, signal: endedBy }
  }

  /** Ends its standard input. */
  async end() {
    this.#child.stdin.on('error', () => {}).end()
    const [code, signal] = await this.#closed
    return { code, signal }
  }
}

/** @param {string | URL} url */
async function get(url) {
  const req = http.get(url, { agent: false })
  const [res] = await once(req, 'response')
  res.setEncoding('utf8')
  let body = ''
  for await (const piece of res) body += piece
  const { date: _, ...headers } = res.headers
  return { status: res.statusCode, headers, body }
}

const appFile = (name) => path.join('test', 'register', 'apps', name)

module.exports = { Program, appFile, get }
