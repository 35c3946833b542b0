'use strict'
// The call tree for a flame graph: the calls of one function from one caller are one node, and what is too small to see is left out.

const { rounded } = require('./profile-tables')

/** The share of the whole below which a node is left out. */
const LEAST_SHARE = 0.001

/**
 * @import { Frame } from './call-frames'
 * @import { TreeNode } from './profile-tree'
 * @typedef {'ms' | 'bytes'} Unit
 * @typedef {Pick<Frame, 'name' | 'file' | 'line' | 'package'> & Record<Unit, number> & { children: FlameNode[] }} FlameNode
 *   it has the value of its unit only
 */

/** @param {TreeNode} root @param {Unit} unit */
function flameTree(root, unit) {
  const merged = merge([root], unit)
  const whole = { ...merged, name: '(all)', file: null, line: null, package: null }
  return withoutSmall(whole, whole[unit] * LEAST_SHARE, unit)
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

module.exports = { flameTree }
