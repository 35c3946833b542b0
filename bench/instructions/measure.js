'use strict'
// Counts the instructions of a request with callgrind, in a server of bench/overhead/server.js. A figure is
// the least of several windows of requests: a window with a compilation or a major collection has more.

const { execFileSync, spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { ClosedLoop } = require('../support/closed-loop')

/** Requests before the first window. By then, what serves them is compiled. */
const WARM_UP = 35_000
const WINDOWS = 6
const WINDOW = 2000

class Counted {
  #child
  #out
  #dumps = 0
  port

  static async start(out, framework, variant) {
    const counted = new Counted()
    counted.#out = out
    const options = [`--callgrind-out-file=${out}`, '--instr-atstart=no', '--separate-threads=yes']
    const script = path.join(__dirname, '..', 'overhead', 'server.js')
    counted.#child = spawn(
      'valgrind',
      [
        '--tool=callgrind',
        '--smc-check=all-non-file',
        ...options,
        process.execPath,
        script,
        framework,
        variant,
      ],
      { env: { ...process.env, NODE_ENV: 'production' }, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }
    )
    const ended = once(counted.#child, 'exit').then(() => {
      throw new Error(`valgrind could not run ${script}: is it installed?`)
    })
    const [{ port }] = await Promise.race([once(counted.#child, 'message'), ended])
    ended.catch(() => {})
    counted.port = port
    return counted
  }

  /** @returns {Promise<number>} the instructions that the main thread executes during `work` */
  async count(work) {
    this.#control('-i', 'on')
    await work()
    this.#control('-i', 'off')
    this.#control('-d')
    const file = `${this.#out}.${++this.#dumps}-01`
    const total = totalOf(fs.readFileSync(file, 'utf8'))
    fs.unlinkSync(file)
    return total
  }

  #control(...options) {
    execFileSync('callgrind_control', [...options, String(this.#child.pid)], { stdio: 'ignore' })
  }

  async stop() {
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
  }
}

/**
 * Adds up the lines of cost. A line after `calls=` repeats the cost of the called function and does not
 * count.
 */
function totalOf(dump) {
  let total = 0
  let isCall = false
  for (const line of dump.split('\n')) {
    if (line.startsWith('calls=')) isCall = true
    else if (/^[-+*\d]/.test(line)) {
      if (!isCall) total += Number(line.split(' ')[1])
      isCall = false
    }
  }
  return total
}

/** @returns {Promise<number>} the instructions of a request */
async function measure(framework, variant, { headers = '', warmUp = WARM_UP } = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-instructions-'))
  const counted = await Counted.start(path.join(folder, 'out'), framework, variant)
  const load = await ClosedLoop.open({ port: counted.port, path: '/hello', connections: 1, headers })
  await load.run(warmUp)
  const windows = []
  for (let i = 0; i < WINDOWS; i++) windows.push((await counted.count(() => load.run(WINDOW))) / WINDOW)
  load.close()
  await counted.stop()
  fs.rmSync(folder, { recursive: true })
  return Math.round(Math.min(...windows))
}

module.exports = { WARM_UP, WINDOW, WINDOWS, measure }
