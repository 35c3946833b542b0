'use strict'
// node gateway.js <options as JSON>: a gateway of bench/gateways. It passes requests on over `connections`
// kept connections. Requests beyond wait here, first in, first out. `adds` names the header that it adds, if
// any. It reads requests without a body and answers with a Content-Length, and nothing else.

const { randomBytes, randomInt } = require('node:crypto')
const net = require('node:net')

const { port, connections, adds } = JSON.parse(process.argv[2])

const HOST = '127.0.0.1'
const HEAD_END = '\r\n\r\n'
const BAD_GATEWAY = Buffer.from('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n')
const HEADERS = {
  none: () => '',
  'x-forwarded-for': () => `X-Forwarded-For: 203.0.${randomInt(256)}.${randomInt(256)}\r\n`,
  traceparent: () =>
    `traceparent: 00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01\r\n`,
}
const addedHeader = HEADERS[adds]

/** @typedef {{ client: net.Socket, request: string }} Job */

/** @type {Job[]} */
const queue = []
/** @type {{ take: (job: Job) => void }[]} */
const idle = []
let opened = 0

/** One kept connection to the service. It carries one request at a time. */
class Upstream {
  #socket = net.connect(port, HOST).setNoDelay(true)
  /** @type {Job | undefined} */
  #job
  /** @type {Buffer[]} */
  #parts = []
  #missing = 0
  #isLast = false

  /** @param {Job} job */
  constructor(job) {
    opened++
    this.#socket.on('data', (data) => this.#read(data))
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => this.#close())
    this.take(job)
  }

  /** @param {Job} job */
  take(job) {
    this.#job = job
    this.#socket.write(job.request, 'latin1')
  }

  #read(data) {
    this.#parts.push(data)
    if (this.#missing === 0 && !this.#readHead()) return
    this.#missing -= data.length
    if (this.#missing > 0) return
    this.#missing = 0
    this.#answer(Buffer.concat(this.#parts))
    if (this.#isLast) this.#socket.destroy()
    else this.#next()
  }

  /**
   * Sets the number of missing bytes, those of the last part included.
   * @returns {boolean} whether the head is whole
   */
  #readHead() {
    const text = Buffer.concat(this.#parts).latin1Slice()
    const end = text.indexOf(HEAD_END)
    if (end === -1) return false
    const [, length] = /** @type {RegExpExecArray} */ (/\r\ncontent-length: (\d+)/i.exec(text))
    this.#isLast = /\r\nconnection: close/i.test(text)
    const before = text.length - /** @type {Buffer} */ (this.#parts.at(-1)).length
    this.#missing = end + HEAD_END.length + Number(length) - before
    return true
  }

  #answer(bytes) {
    this.#parts = []
    this.#job?.client.write(bytes)
    this.#job = undefined
  }

  #next() {
    const job = queue.shift()
    if (job === undefined) idle.push(this)
    else this.take(job)
  }

  #close() {
    opened--
    const at = idle.indexOf(this)
    if (at !== -1) idle.splice(at, 1)
    if (this.#job !== undefined) this.#answer(BAD_GATEWAY)
    const job = queue.shift()
    if (job !== undefined) new Upstream(job)
  }
}

/** @param {Job} job */
function pass(job) {
  const free = idle.pop()
  if (free !== undefined) free.take(job)
  else if (opened < connections) new Upstream(job)
  else queue.push(job)
}

function accept(client) {
  let text = ''
  client.setNoDelay(true)
  client.on('error', () => {})
  client.on('data', (data) => {
    text += data.latin1Slice()
    if (!text.endsWith(HEAD_END)) return
    const request = `${text.slice(0, -2)}${addedHeader()}\r\n`
    text = ''
    pass({ client, request })
  })
}

const server = net.createServer(accept)
server.listen({ port: 0, host: HOST, backlog: 4096 }, () =>
  process.send?.({ port: /** @type {net.AddressInfo} */ (server.address()).port })
)
process.on('disconnect', () => process.exit())
