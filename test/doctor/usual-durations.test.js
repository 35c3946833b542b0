'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { UsualDurations } = require('../../src/features/doctor/reading')

function usualAfter(looks) {
  const usual = new UsualDurations()
  const route = {}
  for (const [count, meanMs, times = 1] of looks)
    for (let i = 0; i < times; i++) usual.onLook(route, count, meanMs)
  return usual.of(route)
}
const near = (value, expected) =>
  assert.ok(Math.abs(value - expected) < expected / 100, `${value} is not ${expected}`)

test('what a route usually takes is its mean over the looks', () => {
  assert.equal(usualAfter([]), undefined)
  near(usualAfter([[10, 50]]), 50)
  // The geometric mean.
  near(
    usualAfter([
      [10, 40],
      [10, 90],
    ]),
    60
  )
})

test('a look with fewer than five requests says nothing', () => {
  assert.equal(usualAfter([[4, 50]]), undefined)
  near(usualAfter([[5, 50]]), 50)
})

test('a fault of half an hour does not become the usual', () => {
  const usual = usualAfter([
    [10, 20, 60],
    [10, 900, 180],
  ])
  assert.ok(usual < 900 / 3, `${usual} ms`)
})

test('a route that is a little slower becomes the usual', () => {
  near(
    usualAfter([
      [10, 20, 30],
      [10, 50, 3000],
    ]),
    50
  )
})
