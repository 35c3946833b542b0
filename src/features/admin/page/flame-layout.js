'use strict'
// Places the frames of a flame graph below their caller, as wide as their share. The list has the order of
// the tree, so the frames below a frame come right after it.

/**
 * @typedef {'ms' | 'bytes'} Unit
 * @typedef {{ name: string, file: string | null, line: number | null, package: string | null,
 *   children: FlameNode[] } & Record<Unit, number>} FlameNode a function in the tree of a profile. A CPU
 *   profile has only `ms`, and a heap profile only `bytes`
 *
 * @typedef {object} Frame
 * @property {FlameNode} node
 * @property {number} value ms or bytes
 * @property {number} index
 * @property {number} end the index after the last frame below it
 * @property {number} depth
 * @property {Frame | undefined} parent
 * @property {number} start where the frame begins, as a share of the whole: from 0 to 1
 * @property {number} share the width of the frame, as a share of the whole: from 0 to 1
 *
 * @typedef {{ frame: Frame, left: number, width: number }} Shown a frame in the graph. `left` and `width` are
 *   shares of the width of the graph, from 0 to 1
 */

/** @param {FlameNode} root @param {Unit} unit @returns {Frame[]} */
function framesOf(root, unit) {
  const whole = Math.max(root[unit], Number.MIN_VALUE)
  /** @type {Frame[]} */
  const frames = []
  /**
   * The tree is walked without recursion, because the profiled stack may be deeper than the browser's own.
   *
   * @type {{ node: FlameNode, parent: Frame | undefined, start: number }[]}
   */
  const waiting = [{ node: root, parent: undefined, start: 0 }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, parent, start } = next
    const value = node[unit]
    const depth = parent === undefined ? 0 : parent.depth + 1
    const index = frames.length
    const frame = { node, value, index, end: index + 1, depth, parent, start, share: value / whole }
    frames.push(frame)
    const ends = startsOf(node.children, start, whole, unit)
    for (let i = node.children.length - 1; i >= 0; i--)
      waiting.push({ node: node.children[i], parent: frame, start: ends[i] })
  }
  for (let i = frames.length - 1; i > 0; i--) {
    const parent = /** @type {Frame} */ (frames[i].parent)
    parent.end = Math.max(parent.end, frames[i].end)
  }
  return frames
}

/** @param {FlameNode[]} children @param {number} start @param {number} whole @param {Unit} unit */
function startsOf(children, start, whole, unit) {
  let at = start
  return children.map((child) => {
    const before = at
    at += child[unit] / whole
    return before
  })
}

/** @param {Frame} frame @returns {Frame[]} its callers, the root first, and itself */
function pathTo(frame) {
  const path = []
  for (let each = /** @type {Frame | undefined} */ (frame); each !== undefined; each = each.parent)
    path.push(each)
  return path.reverse()
}

/**
 * @param {Frame[]} frames
 * @param {Frame} zoomed takes the whole width, like its callers
 * @param {number} least the width below which a frame is left out
 * @returns {Shown[]}
 */
function layOut(frames, zoomed, least) {
  const shown = pathTo(zoomed).map((frame) => ({ frame, left: 0, width: 1 }))
  let i = zoomed.index + 1
  while (i < zoomed.end) {
    const frame = frames[i]
    const width = frame.share / zoomed.share
    if (width < least) {
      i = frame.end
      continue
    }
    shown.push({ frame, left: (frame.start - zoomed.start) / zoomed.share, width })
    i++
  }
  return shown
}

/**
 * @param {Frame[]} frames
 * @param {string} text
 * @returns {{ matches: Set<Frame>, share: number }} share: the share of the matches in the whole. A match
 *   includes what it calls. Nested matches count once
 */
function search(frames, text) {
  const wanted = text.trim().toLowerCase()
  /** @type {Set<Frame>} */
  const matches = new Set()
  let share = 0
  let countedTo = 0
  if (wanted === '') return { matches, share }
  for (const frame of frames) {
    const { name, file, package: from } = frame.node
    if (![name, file, from].some((each) => each?.toLowerCase().includes(wanted))) continue
    matches.add(frame)
    if (frame.index < countedTo) continue
    share += frame.share
    countedTo = frame.end
  }
  return { matches, share: Math.min(1, share) }
}

module.exports = { framesOf, layOut, pathTo, search }
