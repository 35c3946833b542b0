'use strict'
// Writes a call tree in the format of pprof, which `go tool pprof`, Grafana Pyroscope, Parca and others read.

const { promisify } = require('node:util')
const zlib = require('node:zlib')

const gzip = promisify(zlib.gzip)
const NANOSECONDS = 1e6

/**
 * @import { FunctionInput, LocationInput, SampleInput } from 'pprof-format'
 * @import { Frame } from './call-frames'
 * @import { TreeNode } from './profile-tree'
 * @import { Kind, When } from './profile-work'
 */

/** @type {Record<Kind, { type: string, unit: string, valueOf: (value: number) => number }>} */
const KINDS = {
  cpu: { type: 'cpu', unit: 'nanoseconds', valueOf: (ms) => Math.round(ms * NANOSECONDS) },
  heap: { type: 'inuse_space', unit: 'bytes', valueOf: (bytes) => Math.round(bytes) },
}

class Pprof {
  /** Loaded when it is first needed: most processes are never profiled. */
  #format = require('pprof-format')
  #strings = new this.#format.StringTable()
  /** @type {FunctionInput[]} */
  #functions = []
  /** @type {LocationInput[]} */
  #locations = []
  /** @type {SampleInput[]} */
  #samples = []
  /** @type {Map<Frame, number>} */
  #ids = new Map()
  #kind

  /** @param {TreeNode} root @param {Kind} kind */
  constructor(root, kind) {
    this.#kind = KINDS[kind]
    for (const child of root.children) this.#add(child, [])
  }

  /** @param {TreeNode} node @param {number[]} callers the innermost first */
  #add({ frame, self, children }, callers) {
    const locationId = [this.#idOf(frame), ...callers]
    const value = this.#kind.valueOf(self)
    if (value > 0) this.#samples.push({ locationId, value: [value] })
    for (const child of children) this.#add(child, locationId)
  }

  /** @param {Frame} frame */
  #idOf(frame) {
    let id = this.#ids.get(frame)
    if (id !== undefined) return id
    id = this.#ids.size + 1
    this.#ids.set(frame, id)
    const name = this.#strings.dedup(frame.name)
    const line = frame.line ?? 0
    const filename = this.#strings.dedup(frame.file ?? '')
    this.#functions.push({ id, name, systemName: name, filename, startLine: line })
    this.#locations.push({ id, line: [{ functionId: id, line }] })
    return id
  }

  /** @param {When} when @returns {Promise<Buffer>} gzipped, as the format requires */
  async encode({ atMs, durationMs }) {
    const { type, unit } = this.#kind
    const sampleType = { type: this.#strings.dedup(type), unit: this.#strings.dedup(unit) }
    const profile = new this.#format.Profile({
      sampleType: [sampleType],
      sample: this.#samples,
      location: this.#locations,
      function: this.#functions,
      stringTable: this.#strings,
      timeNanos: BigInt(Math.round(atMs)) * 1_000_000n,
      durationNanos: Math.round(durationMs * NANOSECONDS),
      periodType: sampleType,
      period: 1,
    })
    return gzip(await profile.encodeAsync())
  }
}

/** @param {TreeNode} root @param {Kind} kind @param {When} when */
const pprofOf = (root, kind, when) => new Pprof(root, kind).encode(when)

module.exports = { pprofOf }
