// A server of MongoDB's wire protocol, for tests: it answers the commands of a driver from arrays in memory.
// It knows no filter. A query with the comment `hold` is answered when the test lets it go, and so is each one
// while it `isHolding`.

const { once } = require('node:events')
const net = require('node:net')
const { Long, deserialize, serialize } = require('bson')

const OP_MSG = 2013
const OP_QUERY = 2004
const OP_REPLY = 1
const HEADER = 16

/** The document of a message, with what its further sections hold. @param {Buffer} message */
function readMsg(message) {
  const bodyAt = HEADER + 4 + 1
  const size = message.readInt32LE(bodyAt)
  const command = deserialize(message.subarray(bodyAt, bodyAt + size))
  let at = bodyAt + size
  while (at < message.length && message[at] === 1) {
    const end = at + 1 + message.readInt32LE(at + 1)
    const nameEnd = message.indexOf(0, at + 5)
    const name = message.toString('utf8', at + 5, nameEnd)
    command[name] = []
    for (at = nameEnd + 1; at < end; at += message.readInt32LE(at))
      command[name].push(deserialize(message.subarray(at, at + message.readInt32LE(at))))
  }
  return command
}

/** @param {Buffer} message */
function readQuery(message) {
  const nameEnd = message.indexOf(0, HEADER + 4)
  return deserialize(message.subarray(nameEnd + 9))
}

/** @param {number} kind @param {number} to @param {Buffer[]} parts */
function frame(kind, to, ...parts) {
  const body = Buffer.concat(parts)
  const header = Buffer.alloc(HEADER)
  header.writeInt32LE(HEADER + body.length, 0)
  header.writeInt32LE(to, 8)
  header.writeInt32LE(kind, 12)
  return Buffer.concat([header, body])
}

const EXPIRED = { ok: 0, code: 50, codeName: 'MaxTimeMSExpired', errmsg: 'operation exceeded time limit' }

const EXISTS = { ok: 0, code: 48, codeName: 'NamespaceExists', errmsg: 'Collection already exists.' }

/** @typedef {{ answer: (answered?: object) => void, command: any, socket: net.Socket }} Held */

class WireServer {
  /** Answers that are held back, in the order of their questions. @type {Held[]} */
  held = []
  isHolding = false
  /** Collections that cannot be created. @type {string[]} */
  existing = []
  /** The commands so far, without those of monitoring. @type {string[]} */
  commands = []
  /** @type {{ setName?: string, hosts?: string[], primary?: string }} of a replica set */
  replicaSet = {}
  #collections = new Map()
  #sockets = new Set()
  #server = net.createServer((socket) => this.#serve(socket))

  /** @param {number} [port] */
  async listen(port = 0) {
    this.#server.listen(port, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  get host() {
    return `127.0.0.1:${/** @type {net.AddressInfo} */ (this.#server.address()).port}`
  }

  get url() {
    return `mongodb://${this.host}/shop`
  }

  /** Resolves when so many answers are held back. @param {number} count */
  async holds(count) {
    while (this.held.length < count) await new Promise((resolve) => setImmediate(resolve))
  }

  letGo() {
    for (const { answer } of this.held.splice(0)) answer()
  }

  /** As a real server, when `maxTimeMS` of each held query has passed. */
  expire() {
    for (const { answer } of this.held.splice(0)) answer(EXPIRED)
  }

  close() {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }

  /** @param {net.Socket} socket */
  #serve(socket) {
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => this.#sockets.delete(socket))
    let rest = Buffer.alloc(0)
    socket.on('data', (data) => {
      rest = Buffer.concat([rest, data])
      while (rest.length >= HEADER && rest.length >= rest.readInt32LE(0)) {
        const size = rest.readInt32LE(0)
        this.#onMessage(socket, rest.subarray(0, size))
        rest = rest.subarray(size)
      }
    })
  }

  /** @param {net.Socket} socket @param {Buffer} message */
  #onMessage(socket, message) {
    const id = message.readInt32LE(4)
    const isQuery = message.readInt32LE(12) === OP_QUERY
    const command = isQuery ? readQuery(message) : readMsg(message)
    /** @param {object} [answered] */
    const answer = (answered = this.#answer(command)) => {
      const body = Buffer.from(serialize(answered))
      const reply = Buffer.alloc(20)
      reply.writeInt32LE(1, 16)
      const flags = Buffer.alloc(5)
      socket.write(isQuery ? frame(OP_REPLY, id, reply, body) : frame(OP_MSG, id, flags, body))
    }
    const [name] = Object.keys(command)
    const isHeld = this.isHolding && !/^(hello|ismaster|endSessions|ping)$/i.test(name)
    if (command.comment === 'hold' || isHeld) this.held.push({ answer, command, socket })
    else if (typeof command.comment === 'number') setTimeout(() => answer(), command.comment)
    else answer()
  }

  /** @param {any} command @returns {object} */
  #answer(command) {
    const [name] = Object.keys(command)
    if (/^(hello|ismaster)$/i.test(name)) return this.#hello()
    this.commands.push(name)
    const rows = this.#collections.get(command[name]) ?? []
    const cursor = (/** @type {string} */ batch, /** @type {object[]} */ docs, id = 0) => ({
      cursor: {
        id: Long.fromNumber(id),
        ns: `${command.$db}.${command[name] ?? command.collection}`,
        [batch]: docs,
      },
      ok: 1,
    })
    switch (name) {
      case 'insert':
        this.#collections.set(command.insert, [...rows, ...command.documents])
        return { n: command.documents.length, ok: 1 }
      case 'find': {
        const most = command.batchSize ?? rows.length
        return cursor('firstBatch', rows.slice(0, most), rows.length > most ? 7 : 0)
      }
      case 'getMore':
        return cursor('nextBatch', [])
      case 'aggregate':
        return cursor('firstBatch', rows)
      case 'distinct':
        return { values: [], ok: 1 }
      case 'update':
        return { n: 1, nModified: 1, ok: 1 }
      case 'delete':
        return { n: 1, ok: 1 }
      case 'create':
        return this.existing.includes(command.create) ? EXISTS : { ok: 1 }
      case 'createIndexes':
      case 'ping':
      case 'endSessions':
        return { ok: 1 }
      default:
        return { ok: 0, code: 59, codeName: 'CommandNotFound', errmsg: `no such command: '${name}'` }
    }
  }

  #hello() {
    const { setName, hosts, primary } = this.replicaSet
    const isPrimary = setName === undefined || primary === this.host
    return {
      helloOk: true,
      ismaster: isPrimary,
      isWritablePrimary: isPrimary,
      ...(setName === undefined ? {} : { setName, hosts, primary, me: this.host, secondary: !isPrimary }),
      maxBsonObjectSize: 16777216,
      maxMessageSizeBytes: 48000000,
      maxWriteBatchSize: 100000,
      localTime: new Date(),
      logicalSessionTimeoutMinutes: 30,
      connectionId: 1,
      minWireVersion: 0,
      maxWireVersion: 21,
      readOnly: false,
      ok: 1,
    }
  }
}

module.exports = { WireServer }

// For a bench, in a process of its own: it prints its address.
if (require.main === module) new WireServer().listen().then(({ url }) => process.stdout.write(`${url}\n`))
