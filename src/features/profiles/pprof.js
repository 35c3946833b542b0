'use strict'
// Writes a call tree in the format of pprof, which `go tool pprof`, Grafana Pyroscope, Parca and others read:
// https://github.com/google/pprof/blob/main/proto/profile.proto

const { promisify } = require('node:util')
const zlib = require('node:zlib')
const { ProtobufWriter } = require('../../core/metrics/formats/protobuf-writer')

const gzip = promisify(zlib.gzip)
const NANOSECONDS = 1e6

/**
 * @import { Frame } from './call-frames'
 * @import { TreeNode } from './profile-tree'
 * @import { Kind, When } from './profile-work'
 */

/**
 * @typedef {{ line: number, name: number, file: number }} Place where a function is. `name` and `file` are
 *   indexes into the table of strings
 */

/** @type {Record<Kind, { type: string, unit: string, valueOf: (value: number) => number }>} */
const KINDS = {
  cpu: { type: 'cpu', unit: 'nanoseconds', valueOf: (ms) => Math.round(ms * NANOSECONDS) },
  heap: { type: 'inuse_space', unit: 'bytes', valueOf: (bytes) => Math.round(bytes) },
}

class Pprof {
  /** Indexes by text. The first text must be empty. */
  #strings = new Map([['', 0]])
  /** Each function once. Its id is its index plus one. @type {Place[]} */
  #places = []
  /** The ids of the functions that ran, the innermost first. @type {{ ids: number[], value: number }[]} */
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
    const ids = [this.#idOf(frame), ...callers]
    const value = this.#kind.valueOf(self)
    if (value > 0) this.#samples.push({ ids, value })
    for (const child of children) this.#add(child, ids)
  }

  /** @param {Frame} frame */
  #idOf(frame) {
    let id = this.#ids.get(frame)
    if (id !== undefined) return id
    const name = this.#indexOf(frame.name)
    id = this.#places.push({ line: frame.line ?? 0, name, file: this.#indexOf(frame.file ?? '') })
    this.#ids.set(frame, id)
    return id
  }

  /** @param {string} text */
  #indexOf(text) {
    let index = this.#strings.get(text)
    if (index === undefined) {
      index = this.#strings.size
      this.#strings.set(text, index)
    }
    return index
  }

  /** @param {When} when @returns {Promise<Buffer>} gzipped, as the format requires */
  encode({ atMs, durationMs }) {
    const sampleType = { type: this.#indexOf(this.#kind.type), unit: this.#indexOf(this.#kind.unit) }
    const writer = new ProtobufWriter()
    // The writer writes backwards, so the last field comes first.
    writer.uint(12, 1) // the period
    writeType(writer, 11, sampleType)
    writer.uint(10, Math.round(durationMs * NANOSECONDS))
    writer.uint(9, Math.round(atMs) * NANOSECONDS)
    for (const text of [...this.#strings.keys()].reverse()) writer.string(6, text)
    for (let i = this.#places.length - 1; i >= 0; i--) writeFunction(writer, i + 1, this.#places[i])
    for (let i = this.#places.length - 1; i >= 0; i--) writeLocation(writer, i + 1, this.#places[i])
    for (let i = this.#samples.length - 1; i >= 0; i--) writeSample(writer, this.#samples[i])
    writeType(writer, 1, sampleType)
    return gzip(writer.take())
  }
}

/** @param {ProtobufWriter} writer @param {number} field @param {{ type: number, unit: number }} given */
function writeType(writer, field, { type, unit }) {
  const end = writer.end()
  writer.uint(2, unit)
  writer.uint(1, type)
  writer.message(field, end)
}

/** @param {ProtobufWriter} writer @param {number} id @param {Place} place */
function writeFunction(writer, id, { line, name, file }) {
  const end = writer.end()
  writer.uint(5, line)
  writer.uint(4, file)
  writer.uint(3, name) // `system_name`: the same name, because JavaScript has no mangled names
  writer.uint(2, name)
  writer.uint(1, id)
  writer.message(5, end)
}

/**
 * Writes a location. Each function has exactly one, and both have the same id.
 *
 * @param {ProtobufWriter} writer
 * @param {number} id
 * @param {Place} place
 */
function writeLocation(writer, id, { line }) {
  const end = writer.end()
  writer.uint(2, line)
  writer.uint(1, id)
  writer.message(4, end)
  writer.uint(1, id)
  writer.message(4, end)
}

/** @param {ProtobufWriter} writer @param {{ ids: number[], value: number }} sample */
function writeSample(writer, { ids, value }) {
  const end = writer.end()
  writer.varint(value)
  writer.message(2, end)
  const endOfIds = writer.end()
  for (let i = ids.length - 1; i >= 0; i--) writer.varint(ids[i])
  writer.message(1, endOfIds)
  writer.message(2, end)
}

/** @param {TreeNode} root @param {Kind} kind @param {When} when */
const pprofOf = (root, kind, when) => new Pprof(root, kind).encode(when)

module.exports = { pprofOf }
