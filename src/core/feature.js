'use strict'
// The seam between core/ and features/. src/features.js lists the features, and core/ knows none by name.
// For each hook it keeps a list of the started features that have it.

/**
 * @typedef {object} Feature
 * @property {string} name also of its section in `snapshot()`
 * @property {(options: import('../../index.js').ResolvedOptions) => boolean} [isOn] whether it starts with the instance.
 *   Others start at their first use
 * @property {(instance: any) => Part} start
 * @property {() => readonly import('./metrics/family').Family[]} [families] its metrics
 * @property {any} [unused] its section until it starts
 */

/**
 * Members of a started feature. The core calls those that are there.
 *
 * @typedef {object} Part
 * @property {(busyMs: number, nowMs: number) => void} [onEachTurn] at the end of each loop turn
 * @property {(nowMs: number, idleMs: number) => void} [onTurn] at the end of a loop turn, at most every 10 ms
 * @property {() => void} [onMount] a middleware is made, or a server attached
 * @property {() => void} [onStopAccepting] in a drain, when the listening sockets are closed
 * @property {(spare?: any) => any} [sample] a copy of what its metrics show. `spare`: one that is no longer read
 * @property {(captured: any, snapshot: any) => any} [section] its section of `snapshot()`
 * @property {() => void} [close]
 */

/**
 * A worker of a fleet, found by its name. `ask` sends a request to another worker; `names` lists all workers.
 *
 * @typedef {(asked: { method: string | undefined, path: string, headers: Record<string, string> })
 *   => Promise<import('node:http').ClientRequest>} Ask
 * @typedef {{ isOwn: boolean, names: string[], ask?: Ask }} FoundWorker
 */

/** @typedef {'onEachTurn' | 'onTurn' | 'onMount' | 'onStopAccepting'} Hook */

class Features {
  /** The started features by name. @type {Record<string, any>} */
  started = {}
  /** By hook, the parts that have it. @type {Record<Hook, any[]>} */
  #hooked = { onEachTurn: [], onTurn: [], onMount: [], onStopAccepting: [] }
  #list
  #instance
  #isClosed = false

  /** @param {readonly Feature[]} list @param {any} instance */
  constructor(list, instance) {
    this.#list = list
    this.#instance = instance
  }

  /** Starts what the options turn on. */
  start() {
    const { options } = this.#instance
    for (const { name, isOn } of this.#list) if (isOn?.(options)) this.use(name)
  }

  /** The part of a feature, which starts now if it has not yet. @param {string} name */
  use(name) {
    return (this.started[name] ??= this.#startOne(name))
  }

  #startOne(name) {
    const feature = this.#list.find((each) => each.name === name)
    if (feature === undefined) throw new Error(`there is no feature '${name}' in src/features.js`)
    const part = feature.start(this.#instance)
    for (const [hook, parts] of Object.entries(this.#hooked)) if (part[hook] !== undefined) parts.push(part)
    if (this.#isClosed) part.close?.()
    return part
  }

  // Hot path: once a loop turn.
  onEachTurn(busyMs, nowMs) {
    for (const part of this.#hooked.onEachTurn) part.onEachTurn(busyMs, nowMs)
  }

  onTurn(nowMs, idleMs) {
    for (const part of this.#hooked.onTurn) part.onTurn(nowMs, idleMs)
  }

  onMount() {
    for (const part of this.#hooked.onMount) part.onMount()
  }

  onStopAccepting() {
    for (const part of this.#hooked.onStopAccepting) part.onStopAccepting()
  }

  /** The features' metrics. One that has not started has no points. @returns {import('./metrics/family').Family[]} */
  families() {
    return this.#list.flatMap(({ name, families }) =>
      (families?.() ?? []).map((family) => ({
        ...family,
        points: (captured) => (captured[name] === undefined ? [] : family.points(captured)),
      }))
    )
  }

  /** Copies the figures of the started features, for their metrics. @param {Record<string, any>} [spare] */
  sample(spare) {
    const samples = {}
    for (const [name, part] of Object.entries(this.started))
      if (part.sample !== undefined) samples[name] = part.sample(spare?.[name])
    return samples
  }

  /** The features' sections of a snapshot. @param {any} captured @param {any} snapshot of the core */
  sections(captured, snapshot) {
    const sections = {}
    for (const { name, unused } of this.#list) {
      const part = this.started[name]
      const section = part?.section === undefined ? unused : part.section(captured, snapshot)
      if (section !== undefined) sections[name] = section
    }
    return sections
  }

  close() {
    this.#isClosed = true
    for (const part of Object.values(this.started)) part.close?.()
  }
}

exports.Features = Features
