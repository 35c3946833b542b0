'use strict'
// npm run bench:instructions: instructions the main thread executes for a request, counted by callgrind (needs Debian's
// valgrind). On a busy machine CPU time scatters by a tenth from process to process, more than what is to be measured; this by
// a hundredth. What a cache miss or a system call costs it does not know: bench:overhead does.
// A figure is the least of several windows in the steady state: one with a compilation or a major collection in it is more.

const { execFileSync, spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { answerHelp } = require('../support/help')
const { ClosedLoop } = require('../support/closed-loop')
const { machineLine, save } = require('../support/results')

answerHelp()

const CASES = {
  express: [
    'no-op',
    'floor',
    'spillway attach',
    'spillway wrap',
    'spillway express()',
    'express-prom-bundle',
  ],
  koa: ['no-op', 'floor', 'spillway attach', 'spillway koa()'],
}
const WARM_UP = Number(process.env.WARM_UP ?? 35_000)
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

  /** @returns {Promise<number>} what the main thread executes while `work` is done */
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

/** The sum of the lines of cost, without those that repeat what a call cost inside. */
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

/** @returns {Promise<number>} instructions a request; `headers` are sent with each */
async function measure(framework, variant, headers = '') {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-instructions-'))
  const counted = await Counted.start(path.join(folder, 'out'), framework, variant)
  const load = await ClosedLoop.open({ port: counted.port, path: '/hello', connections: 1, headers })
  await load.run(WARM_UP)
  const windows = []
  for (let i = 0; i < WINDOWS; i++) windows.push((await counted.count(() => load.run(WINDOW))) / WINDOW)
  load.close()
  await counted.stop()
  fs.rmSync(folder, { recursive: true })
  return Math.round(Math.min(...windows))
}

async function main() {
  process.stdout.write(`${machineLine()}\n`)
  const rows = []
  for (const [framework, variants] of Object.entries(CASES)) {
    let base
    for (const variant of variants) {
      const instructions = await measure(framework, variant)
      base ??= instructions
      const addedPercent = Math.round((instructions / base - 1) * 1000) / 10
      rows.push({ framework, variant, instructions, added: instructions - base, addedPercent })
      process.stdout.write(
        `${framework.padEnd(8)} ${variant.padEnd(24)} ${String(instructions).padStart(8)}  +${instructions - base} (${addedPercent} %)\n`
      )
    }
  }
  process.stdout.write(
    `saved ${save('instructions', { windows: WINDOWS, window: WINDOW, warmUp: WARM_UP, rows })}\n`
  )
}

if (require.main === module) main()

module.exports = { measure }
