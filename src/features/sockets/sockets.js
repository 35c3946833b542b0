'use strict'
// The sockets of one instance: the servers of Socket.IO and ws that it watches, and their counts.
// `openOrRefuse()` asks the gate whether a connection may open (connection-gate.js). Until `sockets()` is
// called, no request reaches this file.

const { LOW, NORMAL, priorityIndex } = require('../../core/gate/decision')
const { IGNORE_SHED } = require('../../core/request/ignore')
const { Failure } = require('../../core/errors/failure')
const { ConnectionTable } = require('./connection-table')
const { EventTable, OUTCOME_SHED, UNHANDLED } = require('./event-table')
const { Newcomers } = require('./newcomers')
const { refuseRequest, refuseUpgrade } = require('./refusal')
const { SocketMessage } = require('./socket-message')

/**
 * @import { EventEmitter } from 'node:events'
 * @import { IncomingMessage, ServerResponse } from 'node:http'
 * @import { Socket } from 'node:net'
 * @import { Duplex } from 'node:stream'
 * @import { ConnectionGate as Gate, OnDecision } from './connection-gate'
 * @import { Cause } from '../../core/gate/decision'
 * @import { Instance } from '../../instance'
 * @import { EventReference } from './event-table'
 * @import { Io, IoServer } from './io-server'
 * @import { Newcomer } from './newcomers'
 * @import { Given } from './shapes'
 * @import { WebSocketServer, WsServer } from './ws-server'
 */

/**
 * @typedef {Pick<Instance,
 *   'admission' | 'clock' | 'context' | 'failures' | 'internalErrors' | 'options' | 'recorder'>} Deps
 * @typedef {IncomingMessage & { res?: ServerResponse, socket: Socket & { server?: unknown } }}
 *   HandshakeRequest
 *   `res`: set by Engine.IO
 * @typedef {ReturnType<Sockets['sample']>} SocketsSample
 */

/** Figures before the first `sockets()`. */
const NO_GATE = Object.freeze({ held: 0, room: 1 })

class Sockets {
  connections = new ConnectionTable()
  newcomers
  events
  /** How long listeners have run, until each first returned. */
  handledMs = 0
  /** The event whose listeners run now. The watcher of stalls reads it. @type {EventReference | undefined} */
  running
  #deps
  /** @type {Gate | undefined} */
  #gate
  /** Watched servers, by the argument of `add`. @type {Map<Given, IoServer | WsServer>} */
  #servers = new Map()

  /** @param {Deps} deps */
  constructor(deps) {
    this.#deps = deps
    this.newcomers = new Newcomers(deps.clock)
    this.events = new EventTable(deps.options.routes.overflow, deps.clock.now())
  }

  get context() {
    return this.#deps.context
  }

  nowMs() {
    return this.#deps.clock.now()
  }

  /**
   * @param {Given} given
   * @param {import('../../../index.js').SocketsOptions} options
   * @returns {{ close: () => void }}
   */
  add(given, options) {
    // Loaded with the first server, because most services have none.
    const { ConnectionGate } = require('./connection-gate')
    const { IoServer } = require('./io-server')
    const { isSocketIo, isWebSocketServer, notSockets, takenSockets } = require('./shapes')
    const { WsServer } = require('./ws-server')
    const Server = isSocketIo(given) ? IoServer : isWebSocketServer(given) ? WsServer : undefined
    if (Server === undefined) throw notSockets(given)
    if (this.#servers.has(given)) throw takenSockets()
    this.#gate ??= this.#deps.admission.addConnectionGate((deps) => new ConnectionGate(deps, this.#load))
    const server = new Server(/** @type {Io & WebSocketServer} */ (given), options, this)
    this.#servers.set(given, server)
    this.#connect(this)
    return Object.freeze({ close: () => this.#remove(given, server) })
  }

  #load = () => ({
    open: this.connections.open,
    found: this.connections.found,
    handledMs: this.handledMs,
    newcomers: this.newcomers.count(),
    newcomersHandledMs: this.newcomers.handledMs,
  })

  /** @param {Given} given @param {IoServer | WsServer} server */
  #remove(given, server) {
    if (this.#servers.get(given) !== server) return
    this.#servers.delete(given)
    server.close()
    if (this.#servers.size === 0) this.#connect(undefined)
  }

  /** Requests are checked only while a server is watched. @param {Sockets | undefined} sockets */
  #connect(sockets) {
    this.#deps.recorder.watchSessions(sockets)
  }

  /** Whether any server was ever watched. If not, there is nothing to show. */
  get isUsed() {
    return this.#gate !== undefined
  }

  // Hot path where Socket.IO is watched: once a request.
  /**
   * Whether the request belongs to an open session: its client was admitted and waits for answers.
   *
   * @param {HandshakeRequest} req
   */
  ownsRequest(req) {
    for (const server of this.#servers.values()) if (server.hasSession(req)) return true
    return false
  }

  /** Whether a watched server decides about the upgrade, and so counts it. @param {HandshakeRequest} req */
  decidesUpgrade(req) {
    for (const server of this.#servers.values()) if (server.decidesUpgrade(req)) return true
    return false
  }

  /**
   * Opens a connection, now or later, or answers 503. Nothing happens if the client has disconnected
   * meanwhile.
   * @param {HandshakeRequest} req of the handshake
   * @param {{ owner: object, res?: ServerResponse | undefined, socket: Duplex }} of `owner`: the part that
   *   watches the server, see `open()`; `res`: the response, if the handshake is not an upgrade
   * @param {() => void} open
   */
  openOrRefuse(req, { owner, res, socket }, open) {
    const { clock, recorder } = this.#deps
    const gate = /** @type {Gate} */ (this.#gate)
    const isUpgrade = res === undefined
    /** @type {EventEmitter} */
    const client = isUpgrade ? socket : res
    // A connection of another server than Node's can be neither held nor answered.
    if (typeof client?.on !== 'function') return open()
    const request = isUpgrade ? undefined : recorder.find(res)
    const isExempt = request !== undefined && (request.ignores & IGNORE_SHED) !== 0
    let hasGone = false
    /** @type {(() => void) | undefined} */
    let cancel
    const undo = () => {
      client.off('close', onGone)
      if (!isUpgrade) return
      socket.off('end', onHalfClose)
      socket.off('error', ignore)
    }
    const onGone = () => {
      hasGone = true
      undo()
      cancel?.()
    }
    // After an upgrade, this event is all that Node emits if the client disconnects.
    const onHalfClose = () => {
      onGone()
      refuseUpgrade(socket, gate.retryAfterSeconds())
    }
    /** @type {OnDecision} */
    const onDecision = (reason, value, bound) => {
      if (hasGone) return
      if (cancel !== undefined) undo()
      if (reason === undefined) {
        if (isUpgrade) recorder.countUpgrade(req)
        return open()
      }
      this.connections.onRefuse(reason)
      const seconds = gate.retryAfterSeconds()
      if (isUpgrade) return refuseUpgrade(socket, seconds)
      request?.ticket.onReject(reason, clock.now(), /** @type {Cause} */ ({ value, bound }))
      refuseRequest(res, seconds)
    }
    if (isExempt) return onDecision(undefined)
    cancel = gate.admit({ priority: gate.classOf(req), owner, onDecision })
    if (cancel === undefined) return
    client.on('close', onGone)
    if (!isUpgrade) return
    socket.on('end', onHalfClose)
    // Without a listener, an error of a held connection would end the process.
    socket.on('error', ignore)
  }

  /** Opens the held connections of a server that is no longer watched. @param {object} owner */
  open(owner) {
    this.#gate?.open(owner)
  }

  // Hot path: once a message.
  /**
   * @param {{ name: string, isHandled: boolean, newcomer: Newcomer | undefined, next: SocketMessage |
   *   undefined }} received `isHandled`: whether there is a listener; `newcomer`: undefined if the connection
   *   was open before; `next`: the message of another instance
   */
  receive({ name, isHandled, newcomer, next }) {
    const nowMs = this.nowMs()
    const row = this.events.rowOf(isHandled ? name : UNHANDLED)
    return new SocketMessage(this, {
      row,
      startedMs: nowMs,
      isOfNewcomer: this.newcomers.receive(newcomer, nowMs),
      next,
    })
  }

  /**
   * Adds the time that listeners have run, until each first returned.
   *
   * @param {number} ms
   * @param {boolean} isOfNewcomer
   */
  onHandled(ms, isOfNewcomer) {
    this.handledMs += ms
    if (isOfNewcomer) this.newcomers.handledMs += ms
  }

  /**
   * Decides whether a message is rejected: only in overload, and only if the user's function gives it the
   * class `low`.
   * @param {NonNullable<import('../../../index.js').SocketsOptions['priority']>} priority
   * @param {string} event @param {unknown} socket @param {boolean} isHandled
   * @returns {import('../../../index.js').OverloadedMessage | undefined} the answer
   */
  rejectionOf(priority, event, socket, isHandled) {
    const gate = this.#gate
    if (gate === undefined) return undefined
    gate.onMessage()
    if (!gate.rejectsLow) return undefined
    const given = this.call('sockets.priority', () => priority(event, socket))
    if ((priorityIndex(given) ?? NORMAL) !== LOW || !gate.rejectMessage()) return undefined
    this.events.onEnd(this.events.rowOf(isHandled ? event : UNHANDLED), OUTCOME_SHED, 0, 0)
    return { error: 'spillway:overloaded', event, retryAfter: gate.retryAfterSeconds() }
  }

  /**
   * Called while a listener throws. If the application does not catch the error, the process gets it before
   * any other code runs.
   *
   * @param {EventReference} reference
   */
  onThrow(reference) {
    const { clock, context } = this.#deps
    context.onThrow({ reference, onUncaught: (error) => this.onError(error, reference) })
    clock.onTurn(() => context.onThrow(undefined))
  }

  /**
   * Counts an error. It is logged where it ends, because Node still handles it.
   *
   * @param {unknown} error
   * @param {EventReference} reference
   */
  onError(error, reference) {
    const { context, failures, internalErrors } = this.#deps
    internalErrors.guard('sockets', () => {
      context.recordFailure(error, reference)
      failures.table.count({ route: reference.label }, new Failure(error))
    })
  }

  /**
   * Calls a function of the user.
   *
   * @template T @param {string} option @param {() => T} callback
   * @returns {T | undefined} undefined if it throws or returns a promise
   */
  call(option, callback) {
    const { internalErrors } = this.#deps
    try {
      const given = callback()
      return internalErrors.catchRejection(option, given) ? undefined : given
    } catch (error) {
      internalErrors.report(option, error)
      return undefined
    }
  }

  /** @param {() => unknown} callback */
  guard(callback) {
    this.#deps.internalErrors.guard('sockets', callback)
  }

  /** Called for a version of Socket.IO whose events cannot be followed. */
  onUnknown() {
    this.#deps.internalErrors.report(
      'sockets',
      new Error(
        'this version of Socket.IO is not known: its connections and messages are counted, its events are not'
      )
    )
  }

  /**
   * Called when the process drains and accepts no more connections. Open sockets are closed with a reason.
   */
  onStopAccepting() {
    this.#gate?.onDrain()
    for (const server of this.#servers.values()) server.goodbye(this.#deps.clock)
  }

  /** @param {{ durations: Float64Array, acks: Float64Array }} [spare] */
  sample(spare) {
    const gate = this.#gate?.sample() ?? NO_GATE
    return { isUsed: this.isUsed, ...gate, ...this.connections.sample(), ...this.events.sample(spare) }
  }

  /** @param {SocketsSample} sample */
  section(sample) {
    const { socketsSection } = require('./section')
    return socketsSection(sample, this.nowMs())
  }

  close() {
    for (const [given, server] of [...this.#servers]) this.#remove(given, server)
  }
}

const ignore = () => {}

/** @param {Deps} deps */
const socketsOf = (deps) => new Sockets(deps)

exports.Sockets = Sockets
exports.socketsOf = socketsOf
