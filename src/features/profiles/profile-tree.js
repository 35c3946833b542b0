'use strict'
// Builds the call tree of a profile, for CPU time and for memory. Each node has its own value (ms or bytes)
// and its callees.

const { rounded } = require('./profile-tables')

/** @import { CallFrame, CallFrames, Frame } from './call-frames' */

const MICROSECONDS = 1000

/**
 * @typedef {import('node:inspector').Profiler.Profile} CpuProfile
 * @typedef {{ frame: Frame, self: number, children: TreeNode[] }} TreeNode
 * @typedef {{ id: number, callFrame: CallFrame, children: HeapNode[] }} HeapNode
 * @typedef {{ head: HeapNode, samples: { nodeId: number, size: number, ordinal: number }[] }} HeapProfile
 */

/**
 * @param {CpuProfile} profile
 * @param {CallFrames} frames
 * @param {number} [lastMs] only this many milliseconds at the end count; before them the profiler was being
 *   started
 * @returns {{ root: TreeNode, idleMs: number }} without the idle time
 */
function cpuTree(
  { nodes, samples = [], timeDeltas = [], startTime, endTime },
  frames,
  lastMs = Number.POSITIVE_INFINITY
) {
  /** @type {Map<number, TreeNode>} */
  const byId = new Map()
  for (const { id, callFrame } of nodes) byId.set(id, { frame: frames.of(callFrame), self: 0, children: [] })
  for (const { id, children = [] } of nodes) {
    const node = /** @type {TreeNode} */ (byId.get(id))
    for (const child of children) node.children.push(/** @type {TreeNode} */ (byId.get(child)))
  }
  const fromTime = endTime - lastMs * MICROSECONDS
  let time = startTime
  // A sample lasts until the next one.
  samples.forEach((id, i) => {
    const node = byId.get(id)
    time += timeDeltas[i]
    if (node !== undefined && time >= fromTime)
      node.self += Math.max(0, timeDeltas[i + 1] ?? 0) / MICROSECONDS
  })
  const root = /** @type {TreeNode} */ (byId.get(nodes[0].id))
  const idle = root.children.find(({ frame }) => frame.name === '(idle)')
  root.children = root.children.filter((child) => child !== idle)
  return { root, idleMs: idle?.self ?? 0 }
}

/**
 * @param {HeapProfile['head']} head
 * @param {CallFrames} frames
 * @param {HeapProfile['samples']} samples
 * @returns {TreeNode}
 */
function heapTree(head, frames, samples) {
  /** @type {Map<number, number>} */
  const bytes = new Map()
  for (const { nodeId, size } of samples) bytes.set(nodeId, (bytes.get(nodeId) ?? 0) + size)
  /** @param {HeapNode} node @returns {TreeNode} */
  const convert = ({ id, callFrame, children }) => ({
    frame: frames.of(callFrame),
    self: bytes.get(id) ?? 0,
    children: children.map(convert),
  })
  return convert(head)
}

/** The mean number of allocated bytes for one sample */
const SAMPLE_BYTES = 128 * 1024

/** A node with a smaller share of the whole is left out. */
const MIN_SHARE = 0.001

/**
 * @typedef {'ms' | 'bytes'} Unit
 * @typedef {Pick<Frame, 'name' | 'file' | 'line' | 'package'> & Record<Unit, number> &
 *   { children: FlameNode[] }} FlameNode it has the value of its unit only
 */

/**
 * The call tree for a flame graph. The calls of one function from one caller are one node, and nodes too
 * small to see are left out.
 *
 * @param {TreeNode} root @param {Unit} unit
 */
function flameTree(root, unit) {
  const merged = merge([root], unit)
  const whole = { ...merged, name: '(all)', file: null, line: null, package: null }
  return withoutSmall(whole, whole[unit] * MIN_SHARE, unit)
}

/** @param {TreeNode[]} nodes of one function @param {Unit} unit @returns {FlameNode} */
function merge(nodes, unit) {
  const { name, file, line, package: of } = nodes[0].frame
  /** @type {Map<Frame, TreeNode[]>} */
  const byFrame = new Map()
  let total = 0
  for (const { self, children } of nodes) {
    total += self
    for (const child of children) {
      const same = byFrame.get(child.frame)
      if (same === undefined) byFrame.set(child.frame, [child])
      else same.push(child)
    }
  }
  const children = [...byFrame.values()].map((same) => merge(same, unit))
  for (const child of children) total += child[unit]
  return /** @type {FlameNode} */ ({ name, file, line, package: of, [unit]: total, children })
}

/** @param {FlameNode} node @param {number} least @param {Unit} unit @returns {FlameNode} */
function withoutSmall(node, least, unit) {
  return {
    ...node,
    [unit]: rounded(node[unit]),
    children: node.children
      .filter((child) => child[unit] >= least && child[unit] > 0)
      .sort((a, b) => b[unit] - a[unit])
      .map((child) => withoutSmall(child, least, unit)),
  }
}

module.exports = { SAMPLE_BYTES, cpuTree, flameTree, heapTree }
