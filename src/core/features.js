'use strict'
// Connects core/ and features/, which src/feature-list.js lists. The code of core/ requires no feature. Types
// of core/ name some features, and environment/permissions.js lists the folders that two of them read and
// write. For each hook, `Features` keeps a list of the started features that have this hook.

/**
 * @import { ClientRequest } from 'node:http'
 * @import { ResolvedOptions, Snapshot } from '../../index.js'
 * @import { Instance, Started } from '../instance'
 * @import { Capture } from './metrics/capture'
 * @import { NodeResponse } from './http/entrance'
 * @import { Family, FeatureFamily } from './metrics/family'
 * @import { InternalErrors } from './errors/internal-errors'
 * @import { RequestRecord } from './request/request-record'
 */

/**
 * @typedef {object} Feature
 * @property {keyof Started} name also names its section in `snapshot()`
 * @property {(options: ResolvedOptions) => boolean} [isOn] whether it starts with the instance. Others start
 *   at their first use
 * @property {readonly (keyof Started)[]} [needs] the features without which it does not start. Tests and
 *   `npm run without` read it, as they read `reads`
 * @property {readonly (keyof Started)[]} [reads] the features that it asks or starts, and can do without
 * @property {(instance: Instance) => StartedFeature} start
 * @property {() => readonly FeatureFamily<never>[]} [families] its metrics
 */

/**
 * Members of a started feature. The core calls the members that exist. None of them returns a promise. An
 * error of a hook, of `sample` or of `close` is reported, and the next feature is called. An error of
 * `section` is thrown by `snapshot()`.
 *
 * @typedef {object} StartedFeature
 * @property {(busyMs: number, nowMs: number) => void} [onEachTurn] at the end of each loop turn
 * @property {(nowMs: number, idleMs: number) => void} [onInterval] at the end of a loop turn, at most every
 *   10 ms
 * @property {((request: RequestRecord) => void) | undefined} [onRequest] a request is counted, before the
 *   gate decides
 * @property {((request: RequestRecord) => void) | undefined} [onEnd] a request has ended. Of a request that
 *   ran, series, duration and outcome are known. A rejected or abandoned request has none of them
 * @property {((request: RequestRecord) => void) | undefined} [onUnwanted] a counted request has ended
 *   without a waiting client: the client disconnected, or a timeout answered
 * @property {() => void} [onMount] a middleware is made, or a server attached
 * @property {() => void} [onStopAccepting] in a drain, when the listening sockets are closed
 * @property {() => void} [onUpdate] after `update()` has changed the options
 * @property {((request: RequestRecord) => number) | undefined} [proxyMsOf] how long a request was in a proxy
 *   before it arrived. Only the first feature that has it is asked
 * @property {(res: NodeResponse) => string | undefined} [abortCodeOf] the code of the error that the signal
 *   of a response was aborted with
 * @property {(spare: never) => unknown} [sample] a copy of the figures for its metrics. `spare`: an earlier
 *   copy that is no longer read, to be reused
 * @property {(sample: never, snapshot: CoreSnapshot) => unknown} [section] its section of `snapshot()`.
 *   `sample`: what its `sample` has returned
 * @property {() => void} [close]
 */

/**
 * A worker of a fleet, found by its name. `ask` sends a request to another worker; `names` lists all workers.
 *
 * @typedef {(asked: { method: string | undefined, path: string, headers: Record<string, string> })
 *   => Promise<ClientRequest>} Ask
 * @typedef {{ isOwn: boolean, names: string[], ask?: Ask }} FoundWorker
 */

/**
 * @typedef {'onEachTurn' | 'onInterval' | 'onRequest' | 'onEnd' | 'onUnwanted' | 'onMount' |
 *   'onStopAccepting' | 'onUpdate' | 'proxyMsOf' | 'abortCodeOf'} Hook
 * @typedef {'onRequest' | 'onEnd' | 'onUnwanted'} RequestHook
 * @typedef {Record<Hook, { [Name in keyof StartedFeature]-?: NonNullable<StartedFeature[Name]> }[]>} Hooked
 * @typedef {Pick<Snapshot, 'bulkheads' | 'deadlines' | 'outgoing' | 'pools' | 'releases' | 'sockets' |
 *   'stalls'>} Sections
 * @typedef {Omit<Snapshot, keyof Sections>} CoreSnapshot
 * @typedef {Partial<Record<keyof Started, unknown>>} Samples what the features have copied, by name
 */

/** The names of the started features. @type {WeakMap<object, string>} */
const NAMES = new WeakMap()

class Features {
  /** The started features by name. @type {Partial<Started>} */
  started = {}
  /** By hook, the started features that have it. @type {Hooked} */
  hooked = {
    onEachTurn: [],
    onInterval: [],
    onRequest: [],
    onEnd: [],
    onUnwanted: [],
    onMount: [],
    onStopAccepting: [],
    onUpdate: [],
    proxyMsOf: [],
    abortCodeOf: [],
  }
  #list
  #unused
  #instance
  #isClosed = false

  /**
   * @param {readonly Feature[]} list
   * @param {Partial<Sections>} unused the sections of features that have not started
   * @param {Instance} instance
   */
  constructor(list, unused, instance) {
    this.#list = list
    this.#unused = unused
    this.#instance = instance
  }

  /** Starts what the options turn on. */
  start() {
    const { options } = this.#instance
    for (const { name, isOn } of this.#list) if (isOn?.(options)) this.use(name)
  }

  /**
   * Returns a feature, and starts it if it has not started yet.
   *
   * @template {keyof Started} Name
   * @param {Name} name
   * @returns {Started[Name]}
   */
  use(name) {
    return (this.started[name] ??= /** @type {Started[Name]} */ (this.#startOne(name)))
  }

  /** @param {keyof Started} name */
  #startOne(name) {
    const feature = this.#list.find((each) => each.name === name)
    if (feature === undefined) throw new Error(`the feature '${name}' is not in src/feature-list.js`)
    const started = feature.start(this.#instance)
    for (const [hook, all] of Object.entries(this.hooked))
      if (started[/** @type {Hook} */ (hook)] !== undefined)
        all.push(/** @type {Hooked[Hook][number]} */ (started))
    NAMES.set(started, name)
    if (this.#isClosed) this.#guard(started, 'close', () => started.close?.())
    return started
  }

  // Hot path: once a loop turn.
  /** @param {number} busyMs @param {number} nowMs */
  onEachTurn(busyMs, nowMs) {
    for (const each of this.hooked.onEachTurn) {
      try {
        each.onEachTurn(busyMs, nowMs)
      } catch (error) {
        this.#report(each, 'onEachTurn', error)
      }
    }
  }

  // Hot path: up to a hundred times a second.
  /** @param {number} nowMs @param {number} idleMs */
  onInterval(nowMs, idleMs) {
    for (const each of this.hooked.onInterval) {
      try {
        each.onInterval(nowMs, idleMs)
      } catch (error) {
        this.#report(each, 'onInterval', error)
      }
    }
  }

  onMount() {
    this.#tellAll('onMount', (each) => each.onMount())
  }

  onStopAccepting() {
    this.#tellAll('onStopAccepting', (each) => each.onStopAccepting())
  }

  onUpdate() {
    this.#tellAll('onUpdate', (each) => each.onUpdate())
  }

  /**
   * @template {Hook} Name
   * @param {Name} hook
   * @param {(feature: Hooked[Name][number]) => void} tellOne
   */
  #tellAll(hook, tellOne) {
    for (const each of this.hooked[hook])
      this.#guard(each, hook, () => tellOne(/** @type {Hooked[Name][number]} */ (each)))
  }

  /** @param {object} feature @param {keyof StartedFeature} member @param {() => void} call */
  #guard(feature, member, call) {
    try {
      call()
    } catch (error) {
      this.#report(feature, member, error)
    }
  }

  /** @param {object} feature @param {keyof StartedFeature} member that has thrown @param {unknown} error */
  #report(feature, member, error) {
    this.#instance.internalErrors.report(placeOf(feature, member), error)
  }

  /** The features' metrics. A feature that has not started has no points. @returns {Family[]} */
  families() {
    return this.#list.flatMap(({ name, families }) =>
      (families?.() ?? []).map((family) => ({
        ...family,
        points: (/** @type {Capture} */ { features }) => {
          const sample = features[name]
          return sample === undefined ? [] : family.points(/** @type {never} */ (sample))
        },
      }))
    )
  }

  /** The started features with their names. */
  get #all() {
    return /** @type {[keyof Started, StartedFeature][]} */ (Object.entries(this.started))
  }

  /** Copies the figures of the started features, for their metrics. @param {Samples} [spare] */
  sample(spare) {
    /** @type {Samples} */
    const samples = {}
    for (const [name, started] of this.#all)
      if (started.sample !== undefined)
        this.#guard(started, 'sample', () => {
          samples[name] = started.sample?.(/** @type {never} */ (spare?.[name]))
        })
    return samples
  }

  /**
   * The features' sections of a snapshot.
   *
   * @param {Capture} captured
   * @param {CoreSnapshot} snapshot
   */
  sections(captured, snapshot) {
    /** @type {Record<string, unknown>} */
    const sections = { ...this.#unused }
    for (const [name, started] of this.#all)
      if (started.section !== undefined)
        sections[name] = started.section(/** @type {never} */ (captured.features[name]), snapshot)
    return /** @type {Sections} */ (sections)
  }

  close() {
    this.#isClosed = true
    for (const [, started] of this.#all) this.#guard(started, 'close', () => started.close?.())
  }
}

/**
 * The place of an error, as `snapshot().internalErrors` shows it.
 *
 * @param {object} feature @param {keyof StartedFeature} member that has thrown
 */
const placeOf = (feature, member) => `${NAMES.get(feature)}.${member}`

/**
 * Calls a hook for a request, in each feature that has this hook.
 *
 * @param {RequestHook} hook
 * @param {RequestRecord} request
 * @param {Pick<Hooked, RequestHook>} hooked
 * @param {InternalErrors} internalErrors
 */
function tell(hook, request, hooked, internalErrors) {
  for (const feature of hooked[hook]) {
    try {
      feature[hook](request)
    } catch (error) {
      internalErrors.report(placeOf(feature, hook), error)
    }
  }
}

exports.Features = Features
exports.placeOf = placeOf
exports.tell = tell
