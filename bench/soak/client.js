'use strict'
// Connects to a soak server, time after time, and sends requests that end at random. The client knows how
// each must end and keeps a tally, which the figures of spillway must equal exactly.

const { once } = require('node:events')
const net = require('node:net')

let lastId = 0
const head = (line, rest = '') => `${line} HTTP/1.1\r\nHost: a\r\n${rest}\r\n`
const get = (name, id) => head(`GET /${name}/${id}`)
const badChunk = (id) => `${head(`POST /upload/${id}`, 'Transfer-Encoding: chunked\r\n')}zz\r\n`

/** How likely each ending is, and how it goes. */
const ENDINGS = [
  [40, (client, id) => client.exchange(get('items', id))],
  [15, (client) => client.exchange(`${head('POST /items', 'Content-Length: 5\r\n')}hello`)],
  [10, (client, id) => client.exchange(get('nothing', id))],
  [5, (client, id) => client.exchange(get('error', id), { errored: 1, failed: 1 })],
  [5, (client, id) => client.exchange(get('reject', id), { errored: 1, failed: 1 })],
  [5, (client, id) => client.exchange(get('later', id), { errored: 1, failed: 1 })],
  [0.2, (client, id) => client.beAnsweredFor(get('never', id), { timed_out: 1 })],
  [1, (client) => client.beLeft('nonsense\r\n\r\n', { HPE_INVALID_METHOD: 1 })],
  [1, (client) => client.beLeft(head('GET /a', 'In\0jected: a\r\n'), { HPE_INVALID_HEADER_TOKEN: 1 })],
  [1, (client, id) => client.beLeft(badChunk(id), { aborted: 1, HPE_INVALID_CHUNK_SIZE: 1 })],
  [8, (client, id) => client.exchange(get('items', id).repeat(3), { completed: 3 })],
  [5, (client, id) => client.leaveOnceEntered(get('wait', id), id)],
  [2, (client, id) => client.leaveOnceEntered(get('wait', id).repeat(3), id, { aborted: 3 })],
  [
    3,
    (client, id) =>
      client.leaveOnceEntered(`${head(`POST /upload/${id}`, 'Content-Length: 99\r\n')}part`, id),
  ],
  [3, (client, id) => client.leaveOnceAnswered(get('endless', id))],
  [0.3, (client, id) => client.leaveOnceAnswered(get('big', id), { isRead: false })],
  [2, (client, id) => client.leaveOnceAnswered(get('events', id))],
  [1, (client, id) => client.beLeft(get('cut', id), { errored: 1 })],
]
const TOTAL_WEIGHT = ENDINGS.reduce((sum, [weight]) => sum + weight, 0)

/** What is counted of a request beside its outcome, or of what is none. */
const OUTCOMES = ['completed', 'errored', 'aborted', 'timed_out']

class SoakClient {
  tally = {
    completed: 0,
    errored: 0,
    aborted: 0,
    timed_out: 0,
    failed: 0,
    HPE_INVALID_METHOD: 0,
    HPE_INVALID_HEADER_TOKEN: 0,
    HPE_INVALID_CHUNK_SIZE: 0,
  }
  sent = 0
  #port
  #arrivals
  #random
  #socket
  #text = ''
  #wake = () => {}

  /**
   * @param {number} port
   * @param {{ of(id: string, count: number): Promise<void> }} arrivals
   * @param {() => number} random 0..1
   */
  constructor(port, arrivals, random) {
    this.#port = port
    this.#arrivals = arrivals
    this.#random = random
  }

  /** One ending, of one request or three. */
  async step() {
    if (this.#socket === undefined) await this.#connect()
    let at = this.#random() * TOTAL_WEIGHT
    const [, end] = ENDINGS.find(([weight]) => (at -= weight) < 0)
    await end(this, String(++lastId))
  }

  async #connect() {
    const socket = net.connect({ port: this.#port, host: '127.0.0.1', noDelay: true })
    this.#socket = socket
    this.#text = ''
    socket.setEncoding('latin1')
    socket.on('data', (text) => {
      this.#text += text
      this.#wake()
    })
    socket.on('error', () => {})
    socket.on('close', () => this.#wake())
    await once(socket, 'connect')
  }

  #send(bytes, outcomes) {
    for (const [outcome, count] of Object.entries(outcomes)) {
      this.tally[outcome] += count
      if (OUTCOMES.includes(outcome)) this.sent += count
    }
    this.#socket.write(bytes)
  }

  async exchange(bytes, outcomes = { completed: 1 }) {
    this.#send(bytes, outcomes)
    const answers = Object.values(outcomes)[0]
    for (let i = 0; i < answers; i++) await this.#answer()
  }

  async leaveOnceEntered(bytes, id, outcomes = { aborted: 1 }) {
    const entered = this.#arrivals.of(id, outcomes.aborted)
    this.#send(bytes, outcomes)
    await entered
    this.#leave()
  }

  async leaveOnceAnswered(bytes, { isRead = true } = {}) {
    this.#send(bytes, { aborted: 1 })
    while (this.#text === '') await this.#more()
    if (!isRead) this.#socket.pause()
    this.#leave()
  }

  async beLeft(bytes, outcomes) {
    this.#send(bytes, outcomes)
    const socket = this.#socket
    while (!socket.closed) await this.#more()
    this.#socket = undefined
  }

  /** By a 503, after which its connection is closed. */
  async beAnsweredFor(bytes, outcomes) {
    await this.beLeft(bytes, outcomes)
    if (!this.#text.startsWith('HTTP/1.1 503 ')) throw new Error(`not answered for: ${this.#text}`)
  }

  /** Takes the next whole answer from the received bytes. Its head has its length. */
  async #answer() {
    for (;;) {
      const end = this.#text.indexOf('\r\n\r\n')
      if (end !== -1) {
        const length = /\r\ncontent-length: (\d+)/i.exec(this.#text.slice(0, end + 2))
        if (length === null) throw new Error(`an answer without a length: ${this.#text.slice(0, 200)}`)
        const whole = end + 4 + Number(length[1])
        if (this.#text.length >= whole) {
          this.#text = this.#text.slice(whole)
          return
        }
      }
      if (this.#socket.closed) throw new Error('the server closed a connection it should have kept')
      await this.#more()
    }
  }

  #more() {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  /** FIN or RST, as chance will have it. */
  #leave() {
    if (this.#random() < 0.5) this.#socket.destroy()
    else this.#socket.resetAndDestroy()
    this.#socket = undefined
  }

  close() {
    this.#socket?.destroy()
  }
}

module.exports = { SoakClient }
