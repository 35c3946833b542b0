'use strict'
// The pictures of the stories: titles, lines, bars and their legend, whatever the values.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { barPicture, picture } = require('../../examples/stories/frame/picture')

test('pictures are SVG with every line and bar, whatever the values', () => {
  const points = /** @type {[number, number][]} */ ([
    [1, 0],
    [2, 12_345],
  ])
  for (const scale of /** @type {const} */ (['log', 'linear'])) {
    const svg = picture('a & b', [
      {
        title: '<p99>',
        scale,
        lines: [
          { name: 'before', points },
          { name: 'after', points: [] },
        ],
      },
    ])
    assert.match(svg, /^<svg [^>]*aria-label="a &amp; b">/)
    assert.match(svg, scale === 'log' ? />&lt;p99> \(logarithmic scale\)</ : />&lt;p99></)
    assert.match(svg, />a &amp; b<\/text>/)
    assert.equal(svg.match(/<polyline/g)?.length, 1)
    assert.doesNotMatch(svg, /NaN|Infinity/)
  }
})

test('bars have their title, and a legend of both colours', () => {
  const svg = barPicture('x', [
    { name: 'a', value: 0, isOurs: false },
    { name: 'b', value: 120, isOurs: true },
  ])
  assert.equal(svg.match(/height="16"/g)?.length, 2)
  for (const words of ['x', 'with Spillway', 'without']) assert.ok(svg.includes(`>${words}</text>`), words)
})

test('panels have one axis of seconds: the same second stands at the same place', () => {
  const panel = (most) => ({
    title: 'p',
    lines: [{ name: 'n', points: /** @type {[number, number][]} */ ([[most, 1]]) }],
  })
  const ends = [...picture('x', [panel(5), panel(20)]).matchAll(/<polyline points="([\d.]+),/g)].map(
    ([, x]) => Number(x)
  )
  const [zero] = [...picture('x', [panel(0)]).matchAll(/<polyline points="([\d.]+),/g)].map(([, x]) =>
    Number(x)
  )
  assert.equal(ends[1] - zero, 4 * (ends[0] - zero))
})
