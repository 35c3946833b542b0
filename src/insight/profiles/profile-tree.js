'use strict'
// The call tree of a profile, in one form for CPU time and for memory: each node has the value of its own (ms or bytes) and its callees.

const { CallFrames } = require('./call-frames')

const MICROSECONDS = 1000

/**
 * @typedef {import('./call-frames').CallFrame} CallFrame
 * @typedef {{ frame: import('./call-frames').Frame, self: number, children: TreeNode[] }} TreeNode
 * @typedef {{ id: number, callFrame: CallFrame, children: HeapNode[] }} HeapNode
 * @typedef {{ head: HeapNode, samples: { nodeId: number, size: number, ordinal: number }[] }} HeapProfile
 */

/**
 * @param {import('node:inspector').Profiler.Profile} profile
 * @param {number} [lastMs] of the profile, that counts: what was before is its start
 * @returns {{ root: TreeNode, idleMs: number }} without the idle time
 */
function cpuTree(
  { nodes, samples = [], timeDeltas = [], startTime, endTime },
  lastMs = Number.POSITIVE_INFINITY
) {
  const frames = new CallFrames()
  /** @type {Map<number, TreeNode>} */
  const byId = new Map()
  for (const { id, callFrame } of nodes) byId.set(id, { frame: frames.of(callFrame), self: 0, children: [] })
  for (const { id, children = [] } of nodes) {
    const node = /** @type {TreeNode} */ (byId.get(id))
    for (const child of children) node.children.push(/** @type {TreeNode} */ (byId.get(child)))
  }
  const fromTime = endTime - lastMs * MICROSECONDS
  let time = startTime
  // A sample holds until the next.
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

/** @param {HeapProfile['head']} head @param {HeapProfile['samples']} samples those that count @returns {TreeNode} */
function heapTree(head, samples) {
  const frames = new CallFrames()
  const bytes = new Map()
  for (const { nodeId, size } of samples) bytes.set(nodeId, (bytes.get(nodeId) ?? 0) + size)
  /** @returns {TreeNode} */
  const convert = ({ id, callFrame, children }) => ({
    frame: frames.of(callFrame),
    self: bytes.get(id) ?? 0,
    children: children.map(convert),
  })
  return convert(head)
}

module.exports = { cpuTree, heapTree }
