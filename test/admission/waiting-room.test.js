'use strict'
// Order is the room's whole promise: higher classes first, first come first served within one, whatever comes and goes.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const fc = require('fast-check')
const { WaitingRoom } = require('../../src/admission/waiting-room')

test('a higher class is served first, and within a class who came first', () => {
  const room = new WaitingRoom()
  for (const [priority, name] of [
    [2, 'n1'],
    [3, 'l1'],
    [0, 'c1'],
    [2, 'n2'],
    [1, 'h1'],
    [0, 'c2'],
  ])
    room.push(priority, name)
  const served = []
  while (room.length > 0) served.push(room.shift())
  assert.deepEqual(served, ['c1', 'c2', 'h1', 'n1', 'n2', 'l1'])
  assert.equal(room.shift(), undefined)
})

test('those ahead of a class are its own and the higher ones', () => {
  const room = new WaitingRoom()
  for (const priority of [0, 1, 1, 2, 2, 2, 3]) room.push(priority, {})
  assert.deepEqual(
    [0, 1, 2, 3].map((priority) => room.ahead(priority)),
    [1, 3, 6, 7]
  )
})

test('what is too old is handed over, lowest class first, and the critical by a limit of their own', () => {
  const room = new WaitingRoom()
  const job = (name, waitsSinceMs) => ({ name, admission: { waitsSinceMs } })
  room.push(0, job('critical', 10))
  room.push(2, job('old', 10))
  room.push(2, job('young', 90))
  room.push(3, job('low', 20))
  const dropped = []
  room.expire(50, 5, ({ name }) => dropped.push(name))
  assert.deepEqual(dropped, ['low', 'old'])
  assert.equal(room.length, 2)
})

test('any sequence of coming and going is served as by a plain list', () => {
  fc.assert(
    fc.property(
      fc.array(fc.option(fc.integer({ min: 0, max: 3 }), { freq: 2 }), { maxLength: 600 }),
      (steps) => {
        const room = new WaitingRoom()
        const list = []
        for (const [index, priority] of steps.entries()) {
          if (priority !== null) {
            room.push(priority, index)
            list.push([priority, index])
            list.sort((a, b) => a[0] - b[0] || a[1] - b[1])
          } else assert.equal(room.shift(), list.shift()?.[1])
          assert.equal(room.length, list.length)
        }
      }
    )
  )
})
