'use strict'
// The course of the demo: listen, run the load, a line for each second of it, what came of it, then on a terminal serve on
// until it is told to stop. However it ends, nothing stays behind: the load leaves when its channel to here closes.

const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { HELP, readDemoOptions } = require('./demo-options')
const { CpuShare } = require('./cpu-share')
const { SecondsTable, routeLines } = require('./demo-tables')

const PORTS_TRIED = 20
const PAGES = [
  ['/metrics', 'what Prometheus scrapes'],
  ['/livez', 'does it run?'],
  ['/readyz', 'may traffic come?'],
  ['/hello/you', 'fast'],
  ['/users/7/orders', 'a router in a mount with a parameter'],
  ['/search', 'slow, but only waiting'],
  ['/report', 'keeps the event loop for itself'],
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
    await this.#listen(port)
    if (this.#isStopped) return
    const { port: taken } = this.#server.address()
    const url = `http://127.0.0.1:${taken}`
    if (port !== 0 && port !== taken) print(`Port ${port} is taken, ${taken} is free.`)
    const first = rate === 0 ? ' First the load warms it up, and measures what it can do: 5 s.' : ''
    print(`Express at ${url}.${first}`)
    const table = new SecondsTable()
    await this.#runLoad(url, seconds, rate, table)
    if (this.#isStopped) return
    print('', ...table.summary(), '', ...routeLines(this.#spillway.snapshot()))
    print('/pay fails on purpose, to show errors counted; its clients get a safe 500.')
    if (isOneShot) return this.stop()
    print(
      '',
      'The server keeps running. Open',
      ...PAGES.map(([page, note]) => `  ${(url + page).padEnd(38)}${note}`)
    )
    print('Stop it with Ctrl-C.')
  }

  #stopOnSignals() {
    // `on`, not `once`: under npm a Ctrl-C comes twice, from the terminal and from npm.
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => this.stop('Stopped.'))
    // A reader that has left, as in `npm start | head`, is a reason to stop and not to crash.
    process.stdout.on('error', () => this.stop())
  }

  /** On the port asked for, or the next free one. */
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

  /** The load tells what it saw each second, and asks for the gate to be opened or shut. */
  async #runLoad(url, seconds, rate, table) {
    this.#load = fork(path.join(__dirname, 'load.js'), [url, String(seconds), String(rate)])
    const cpu = new CpuShare()
    this.#load.on('message', (message) => {
      if (this.#isStopped) return
      const share = cpu.take()
      if (message.isWarm) return
      const snapshot = this.#spillway.snapshot()
      if (message.second !== undefined) return print(...table.linesOf({ ...message, share }, snapshot))
      if (message.capacity === undefined) {
        this.#spillway.update({ shed: { mode: message.gate === 'on' ? 'adaptive' : 'off' } })
        table.begin(snapshot)
      } else print(...table.intro(message.capacity, seconds, rate === 0 ? share : undefined))
      this.#load.send('go', () => {})
    })
    // The exit may be known before the last message is read; the end of the channel comes after it.
    const [[code, signal]] = await Promise.all([once(this.#load, 'exit'), once(this.#load, 'disconnect')])
    if (code === 0 || this.#isStopped) return
    // A terminal's Ctrl-C goes to the load as well, and the news of its end may come first.
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
