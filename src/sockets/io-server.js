'use strict'
// Watches one server of Socket.IO: its engine, its namespaces, and the sockets of each, those that are there and those to come. Nothing of it shows
// among the listeners of a namespace, which an application may remove or count.

const { ReplacedMethod } = require('../replaced-method')
const { EngineConnections } = require('./engine-connections')
const { unwatchIoSocket, watchIoSocket } = require('./io-socket')
const { REJECTED } = require('./watched-socket')

class IoServer {
  #io
  #sockets
  #priority
  /** @type {InstanceType<typeof EngineConnections> | undefined} */
  #engine
  /** Their `emitReserved`. Weakly: clients may name namespaces, which come and go. @type {WeakMap<object, InstanceType<typeof ReplacedMethod>>} */
  #namespaces = new WeakMap()
  #bind
  #isClosed = false
  #watcher

  /**
   * @param {any} io
   * @param {import('../../index.js').SocketsOptions} options
   * @param {InstanceType<typeof import('./sockets').Sockets>} sockets
   */
  constructor(io, { priority }, sockets) {
    this.#io = io
    this.#sockets = sockets
    this.#priority = priority
    this.#watcher = { receive: (socket, packet, next) => this.#receive(socket, packet, next) }
    if (io.engine !== undefined) this.#addEngine(io.engine)
    // Before `listen()` there is no engine.
    const { onEngine } = this
    this.#bind = new ReplacedMethod(
      io,
      'bind',
      (method) =>
        /** @this {any} */
        function (engine) {
          const bound = method.inner.call(this, engine)
          onEngine(engine)
          return bound
        }
    )
    for (const namespace of io._nsps.values()) this.#addNamespace(namespace)
  }

  get engine() {
    return this.#engine
  }

  onEngine = (engine) => {
    if (this.#isClosed) return
    this.#engine?.close()
    this.#addEngine(engine)
  }

  #addEngine(engine) {
    const io = this.#io
    // As Engine.IO makes it of `io.path()`, which has no slash at its end.
    this.#engine = new EngineConnections(engine, () => `${io.path()}/`, this.#sockets)
  }

  /** `connect` comes before `connection`, and before any event of the socket. */
  #addNamespace(namespace) {
    if (this.#isClosed || this.#namespaces.has(namespace)) return
    for (const socket of namespace.sockets.values()) this.#watch(socket)
    const server = this
    const replaced = new ReplacedMethod(
      namespace,
      'emitReserved',
      (method) =>
        /** @this {any} */
        function (event, given, ...rest) {
          if (event === 'connect') server.#watch(given)
          else if (event === 'new_namespace') server.#addNamespace(given)
          return method.inner.call(this, event, given, ...rest)
        }
    )
    this.#namespaces.set(namespace, replaced)
  }

  #watch(socket) {
    if (this.#isClosed) return
    if (!watchIoSocket(socket, this.#watcher)) this.#sockets.onUnknown()
  }

  #receive(socket, packet, next) {
    if (this.#isClosed) return next
    const name = String(packet.data?.[0])
    const isHandled = socket.listenerCount(name) > 0
    if (this.#priority !== undefined) {
      const rejection = this.#sockets.rejectionOf(this.#priority, name, socket, isHandled)
      if (rejection !== undefined) {
        answer(socket, packet, rejection)
        return REJECTED
      }
    }
    return this.#sockets.receive(name, isHandled, next)
  }

  goodbye(clock) {
    this.#engine?.goodbye(clock)
  }

  close() {
    this.#isClosed = true
    this.#engine?.close()
    this.#bind.restore()
    for (const namespace of this.#io._nsps.values()) {
      this.#namespaces.get(namespace)?.restore()
      for (const socket of namespace.sockets.values()) unwatchIoSocket(socket, this.#watcher)
    }
  }
}

function answer(socket, { id }, rejection) {
  if (id !== undefined && id !== null) socket.ack(id)(rejection)
  else socket.emit('spillway:overloaded', rejection)
}

module.exports = { IoServer }
