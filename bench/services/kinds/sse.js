'use strict'
// Server-sent events: each broadcast goes to 200 readers. Its latency counts from the time that the server
// wrote into it.

const { Clock, Tally, get, visit } = require('../load')

const READERS = 200
const BROADCASTS_PER_SECOND = 150
const EVENT = /data: (\S+)/g

const epochMs = () => performance.timeOrigin + performance.now()

class Load {
  tally = new Tally()
  #streams = []
  #isStopped = false

  constructor(port) {
    this.port = port
  }

  async start() {
    // Each reader opens the page first.
    for (let i = 0; i < READERS; i++) {
      await visit(this.port, '/')
      await this.#read()
    }
  }

  async #read() {
    const res = await get(this.port, '/events')
    if (res.statusCode !== 200) return this.tally.refused(res.statusCode)
    this.#streams.push(res)
    res.setEncoding('utf8').on('data', (text) => {
      for (const [, sentMs] of text.matchAll(EVENT)) {
        this.tally.answered(performance.now() - (epochMs() - Number(sentMs)))
      }
    })
    res.on('error', () => {})
    res.on('close', () => this.#isStopped || this.tally.refused(undefined))
  }

  stop() {
    this.#isStopped = true
    for (const stream of this.#streams) stream.destroy()
  }
}

module.exports = {
  name: 'sse',
  title: 'events to 200 readers (SSE)',
  unit: 'event',
  framework: 'express',
  serve(app) {
    const readers = new Set()
    app.get('/', (_req, res) => res.send('<script>new EventSource("/events")</script>'))
    app.get('/events', (_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
      res.flushHeaders()
      readers.add(res)
      res.on('close', () => readers.delete(res))
    })
    new Clock(BROADCASTS_PER_SECOND, () => {
      const event = `data: ${epochMs()}\n\n`
      for (const res of readers) res.write(event)
    }).start()
  },
  load: (port) => new Load(port),
}
