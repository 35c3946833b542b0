'use strict'
// Where the frames of a flame graph are, and what a search finds.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { framesOf, layOut, pathTo, search } = require('../../src/features/admin/page/flame-layout')

const node = (name, ms, children = [], from = null) => ({
  name,
  file: null,
  line: null,
  package: from,
  ms,
  children,
})
const TREE = node('(all)', 100, [
  node('serve', 80, [node('parse', 20, [node('parse', 10)]), node('query', 40, [], 'pg')], 'express'),
  node('idle work', 10),
])
const namesOf = (shown) => shown.map(({ frame, left, width }) => [frame.node.name, left, width])
const named = (frames, name) => frames.find((frame) => frame.node.name === name)

test('a frame is below its caller, after its siblings, as wide as its share', () => {
  const frames = framesOf(TREE, 'ms')
  assert.deepEqual(namesOf(layOut(frames, frames[0], 0)), [
    ['(all)', 0, 1],
    ['serve', 0, 0.8],
    ['parse', 0, 0.2],
    ['parse', 0, 0.1],
    ['query', 0.2, 0.4],
    ['idle work', 0.8, 0.1],
  ])
  assert.deepEqual(
    frames.map(({ depth }) => depth),
    [0, 1, 2, 3, 2, 1]
  )
})

test('zoomed, a frame and its callers take the whole width, and nothing beside them is shown', () => {
  const frames = framesOf(TREE, 'ms')
  const query = named(frames, 'query')
  assert.deepEqual(namesOf(layOut(frames, query, 0)), [
    ['(all)', 0, 1],
    ['serve', 0, 1],
    ['query', 0, 1],
  ])
  const serve = named(frames, 'serve')
  assert.deepEqual(namesOf(layOut(frames, serve, 0)).slice(2), [
    ['parse', 0, 0.25],
    ['parse', 0, 0.125],
    ['query', 0.25, 0.5],
  ])
})

test('a frame that is too narrow is left out with all below it', () => {
  const frames = framesOf(TREE, 'ms')
  assert.deepEqual(
    layOut(frames, frames[0], 0.3).map(({ frame }) => frame.node.name),
    ['(all)', 'serve', 'query']
  )
})

test('a search finds function and package in any case, and counts a match within a match once', () => {
  const frames = framesOf(TREE, 'ms')
  const found = search(frames, ' PARSE ')
  assert.equal(found.matches.size, 2)
  assert.equal(found.share, 0.2)
  assert.equal(search(frames, 'pg').share, 0.4)
  assert.deepEqual(search(frames, ' '), { matches: new Set(), share: 0 })
})

test('a stack may be deeper than that of the browser, and a profile may be empty', () => {
  let deep = node('leaf', 1)
  for (let i = 0; i < 50_000; i++) deep = node('again', 1, [deep])
  const frames = framesOf(deep, 'ms')
  assert.equal(pathTo(frames[frames.length - 1]).length, 50_001)
  assert.equal(layOut(frames, frames[0], 0.001).length, 50_001)
  const [empty] = framesOf(node('(all)', 0), 'ms')
  assert.equal(layOut([empty], empty, 0.001).length, 1)
})
