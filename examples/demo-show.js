'use strict'
// Runs the demo: opens the live page, starts the load, prints a line for each second and a summary, then
// keeps serving on a terminal until a signal stops it. The load is a child process that exits when its IPC
// channel closes, so that none outlives the demo.

const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { HELP, readDemoOptions } = require('./demo-options')
const { CpuShare } = require('./cpu-share')
const { SecondsTable, routeLines } = require('./demo-tables')

const PORTS_TRIED = 20
const PAGES = [
  ['/metrics', 'what Prometheus scrapes'],
  ['/livez', 'liveness probe'],
  ['/readyz', 'readiness probe'],
  ['/hello/you', 'fast'],
  ['/users/7/orders', 'a router under a path with a parameter'],
  ['/search', 'slow, but only waits'],
  ['/report', 'blocks the event loop'],
  ['/pay', 'fails on purpose'],
]

class Show {
  #server
  #spillway
  #load
  #isStopped = false

  constructor({ server, spillway }) {
    this.#server = server
    this.#spillway = spillway
  }

  async run({ port, seconds, rate, once: isOneShot }) {
    this.#stopOnSignals()
    const page = await this.#openPage()
    await this.#listen(port)
    if (this.#isStopped) return
    print(`Live page: ${page}  It stays live at ten times the load.`)
    const { port: taken } = this.#server.address()
    const url = `http://127.0.0.1:${taken}`
    if (port !== 0 && port !== taken) print(`Port ${port} is taken, using ${taken}.`)
    const first = rate === 0 ? ' First 5 s to warm up and measure its capacity.' : ''
    print(`Express at ${url}.${first}`)
    const table = new SecondsTable({ page })
    await this.#runLoad(url, seconds, rate, table)
    if (this.#isStopped) return
    print('', ...table.summary(), '', ...routeLines(this.#spillway.snapshot()))
    print('/pay fails on purpose: the errors are counted, and clients get a safe 500.')
    if (isOneShot) return this.stop()
    print(
      '',
      'The server keeps running. Open',
      `  ${page.padEnd(38)}the live page: what is wrong, and profiles at a click`,
      ...PAGES.map(([page, note]) => `  ${(url + page).padEnd(38)}${note}`)
    )
    print('Stop it with Ctrl-C.')
  }

  #stopOnSignals() {
    // `on`, not `once`: under npm the process gets SIGINT twice on Ctrl-C, from the terminal and from npm.
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => this.stop('Stopped.'))
    // If the reader of the pipe exits, as in `npm start | head`, stop instead of crashing with EPIPE.
    process.stdout.on('error', () => this.stop())
  }

  /** On the usual port of an admin server, or on any free port if that is taken. */
  async #openPage() {
    const { url } = await this.#spillway.listen().catch(() => this.#spillway.listen({ port: 0 }))
    return url
  }

  /** Listens on the given port, or on the next free port. */
  async #listen(port) {
    for (let candidate = port; ; candidate++) {
      try {
        this.#server.listen(candidate, '127.0.0.1')
        await once(this.#server, 'listening')
        return
      } catch (error) {
        if (error.code === 'EADDRINUSE' && candidate < port + PORTS_TRIED) continue
        this.#fail(`Cannot listen on 127.0.0.1: ${error.message}`)
        return
      }
    }
  }

  /** Prints what the load reports each second, and switches the gate when the load requests it. */
  async #runLoad(url, seconds, rate, table) {
    this.#load = fork(path.join(__dirname, 'load.js'), [url, String(seconds), String(rate)])
    const cpu = new CpuShare()
    this.#load.on('message', (message) => {
      if (this.#isStopped) return
      const share = cpu.sample()
      if (message.isWarm) return
      const snapshot = this.#spillway.snapshot()
      if (message.second !== undefined) return print(...table.linesOf({ ...message, share }, snapshot))
      if (message.capacity === undefined) {
        this.#spillway.update({ shed: { mode: message.gate === 'on' ? 'adaptive' : 'off' } })
        table.begin(snapshot)
      } else print(...table.intro(message.capacity, seconds, rate === 0 ? share : undefined))
      this.#load.send('go', () => {})
    })
    // `exit` may be emitted before the last message is read; `disconnect` is emitted after it.
    const [[code, signal]] = await Promise.all([once(this.#load, 'exit'), once(this.#load, 'disconnect')])
    if (code === 0 || this.#isStopped) return
    // On Ctrl-C the terminal also signals the load, and its `exit` may arrive before our own signal.
    if (signal === 'SIGINT' || signal === 'SIGTERM') this.stop('Stopped.')
    else this.#fail(`The load ended early: ${signal ?? `exit code ${code}`}.`)
  }

  #fail(sentence) {
    console.error(sentence)
    process.exitCode = 1
    this.stop()
  }

  stop(sentence) {
    if (this.#isStopped) return
    this.#isStopped = true
    if (sentence !== undefined) print('', sentence)
    if (this.#load?.connected) this.#load.disconnect()
    this.#server.close()
    this.#server.closeAllConnections()
    this.#spillway.close()
  }
}

function runShow(parts) {
  const { problem, help, ...options } = readDemoOptions(process.argv.slice(2))
  if (problem !== undefined) {
    console.error(problem)
    process.exitCode = 2
  } else if (help) {
    print(HELP)
  } else {
    new Show(parts).run(options)
  }
}

function print(...lines) {
  console.log(lines.join('\n'))
}

module.exports = { runShow }
