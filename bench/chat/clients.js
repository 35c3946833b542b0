'use strict'
// node clients.js: sessions of socket.io-client, opened and measured as the parent says over IPC.
//   { open, name, port, count, perSecond, transport, everyMs, events }   opens a group of sessions, each of which sends an event at
//                                                                        that interval; done when each is connected or has failed
//   { measure }                                                          from now on, acknowledgements count under this name
//   { report }                                                           what was measured under each name
//   { close }                                                            ends

const { io } = require('socket.io-client')
const { percentile } = require('../support/statistics')

/** How long the server is to wait before it acknowledges. */
const WAITS = { lookup: () => 20 + Math.random() * 100, probe: () => 100 + Math.random() * 500 }
const ACK_TIMEOUT_MS = 30_000
const groups = new Map()
let phase = 'none'

class Group {
  connected = 0
  failed = new Map()
  lost = 0
  /** Durations by phase and event. */
  durations = new Map()
  unanswered = 0
  sockets = []

  constructor({ name, port, transport, everyMs, events }) {
    Object.assign(this, { name, port, transport, everyMs, events })
  }

  open() {
    return new Promise((resolve) => {
      const socket = io(`http://127.0.0.1:${this.port}`, {
        transports: [this.transport],
        forceNew: true,
        reconnection: false,
        timeout: 60_000,
      })
      socket.once('connect', () => {
        this.connected++
        this.sockets.push(socket)
        socket.once('disconnect', () => this.lost++)
        this.#send(socket, Math.random() * this.everyMs)
        resolve(undefined)
      })
      socket.once('connect_error', (error) => {
        const { description } = /** @type {any} */ (error)
        // A browser sees no more of a refused upgrade; the response of ws has the status.
        const why = String(description?.status ?? description?.message ?? (description || error.message))
        this.failed.set(why, (this.failed.get(why) ?? 0) + 1)
        socket.close()
        resolve(undefined)
      })
    })
  }

  #send(socket, inMs) {
    setTimeout(async () => {
      if (!socket.connected) return
      this.#send(socket, this.everyMs)
      const event = this.events[Math.floor(Math.random() * this.events.length)]
      const begun = phase
      const startMs = performance.now()
      try {
        await socket
          .timeout(ACK_TIMEOUT_MS)
          .emitWithAck(event, WAITS[event] === undefined ? 'hello' : WAITS[event]())
        this.#record(`${begun} ${event}`, performance.now() - startMs)
      } catch {
        if (socket.connected) this.unanswered++
      }
    }, inMs)
  }

  #record(key, ms) {
    const list = this.durations.get(key)
    if (list === undefined) this.durations.set(key, [ms])
    else list.push(ms)
  }

  report() {
    const { connected, failed, lost, unanswered } = this
    return {
      connected,
      failed: Object.fromEntries(failed),
      lost,
      unanswered,
      events: Object.fromEntries(
        [...this.durations].map(([key, list]) => [
          key,
          {
            count: list.length,
            p50: percentile(list, 0.5),
            p90: percentile(list, 0.9),
            p99: percentile(list, 0.99),
          },
        ])
      ),
    }
  }
}

async function open(given) {
  const group = new Group(given)
  groups.set(given.name, group)
  const startMs = performance.now()
  const opening = []
  for (let i = 0; i < given.count; i++) {
    const dueMs = startMs + (i * 1000) / given.perSecond
    const leftMs = dueMs - performance.now()
    if (leftMs > 0) await new Promise((resolve) => setTimeout(resolve, leftMs))
    opening.push(group.open())
  }
  await Promise.all(opening)
  process.send?.({ opened: given.name })
}

process.on('message', (/** @type {any} */ message) => {
  if (message.open !== undefined) open(message.open)
  if (message.measure !== undefined) phase = message.measure
  if (message.report !== undefined)
    process.send?.({ report: Object.fromEntries([...groups].map(([name, group]) => [name, group.report()])) })
})
process.on('disconnect', () => process.exit())
