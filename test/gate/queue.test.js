'use strict'
// The queue: the order in which it runs requests, how many are ahead of a newcomer, and what it keeps of
// those that left.

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { EventEmitter } = require('node:events')
const { test } = require('node:test')
const v8 = require('node:v8')
const vm = require('node:vm')
const fc = require('fast-check')
const { CLASS_LEAD_MS, Queue, QueueEntry, inRequestContext } = require('../../src/core/gate/queue')
const { CRITICAL, NORMAL, PRIORITIES } = require('../../src/core/gate/decision')
const { requestWith } = require('../support/request')

const HIGH = PRIORITIES.indexOf('high')
const LOW = PRIORITIES.indexOf('low')
const MARKS = { key: undefined, maxWaitMs: Number.POSITIVE_INFINITY, nowMs: 0, stallFreeMs: 0, idleMs: 0 }

function pushed(queue, { priority = NORMAL, tag = 0, name = undefined, nowMs = 0 } = {}) {
  const request = requestWith({ name })
  request.ticket.priority = priority
  request.ticket.queueEntry = new QueueEntry(request, { ...MARKS, tag, nowMs })
  queue.push(request.ticket.queueEntry)
  return request
}

const anyEntry = fc.record({
  priority: fc.constantFrom(CRITICAL, HIGH, NORMAL, LOW),
  tag: fc.nat({ max: 5 }),
})

test('higher classes run first, within a class the lowest tag, then first in, first out', () => {
  fc.assert(
    fc.property(fc.array(anyEntry, { maxLength: 60 }), (entries) => {
      const queue = new Queue()
      const requests = entries.map((entry) => pushed(queue, entry))
      const inOrder = requests.toSorted(
        ({ ticket: { queueEntry: a } }, { ticket: { queueEntry: b } }) =>
          a.priority - b.priority || a.tag - b.tag
      )
      assert.deepEqual(
        requests.map(() => requests.indexOf(queue.shift())),
        inOrder.map((request) => requests.indexOf(request))
      )
      assert.equal(queue.shift(), undefined)
    })
  )
})

test('the queue keeps the fair shares: a key that was idle begins at the tag that ran last, a removed request gives its tag back', () => {
  const queue = new Queue()
  const add = (key) => {
    const entry = new QueueEntry(requestWith({}), { ...MARKS, key, tag: queue.tagOf(key) })
    queue.push(entry)
    return entry
  }
  for (let i = 0; i < 3; i++) add('busy')
  for (let i = 0; i < 3; i++) queue.shift()
  assert.equal(queue.tagOf('idle'), 3)
  queue.remove(add('busy'))
  assert.equal(queue.tagOf('busy'), 4)
  assert.equal(queue.tagOf(undefined), 0)
})

for (const [how, leave] of /** @type {const} */ ([
  ['run', (queue) => queue.shift()],
  ['removed', (queue, entry) => queue.remove(entry)],
])) {
  test(`the owner learns that a client half-closes while its request is queued, and not once it was ${how}`, () => {
    const queue = new Queue()
    const told = []
    const [first, second] = ['first', 'second'].map((name) => {
      const socket = new EventEmitter()
      const request = Object.assign(requestWith({ name }), { socket })
      const entry = new QueueEntry(request, { ...MARKS, tag: 0 })
      queue.push(entry, () => told.push(name))
      return { entry, socket }
    })
    leave(queue, first.entry)
    for (const { socket } of [first, second]) socket.emit('end')
    assert.deepEqual(told, ['second'])
    assert.equal(first.socket.listenerCount('end'), 0)
  })
}

test('a request is overtaken by a class above only if that was queued less than a lead later, by two above two leads', () => {
  const queue = new Queue()
  const at = (priority, nowMs) => pushed(queue, { priority, nowMs })
  const low = at(LOW, 1000)
  const early = at(NORMAL, 1000 + CLASS_LEAD_MS - 2)
  const late = at(NORMAL, 1000 + CLASS_LEAD_MS + 2)
  const high = at(HIGH, 1000 + 2 * CLASS_LEAD_MS - 1)
  const newest = at(CRITICAL, 1000 + 3 * CLASS_LEAD_MS + 1)
  assert.deepEqual(
    [1, 2, 3, 4, 5].map(() => queue.shift()),
    [early, high, low, newest, late]
  )
})

test('whatever is pushed, removed and run in between, each request leaves once, and the length is right', () => {
  const anyStep = fc.oneof(
    anyEntry.map((entry) => ({ kind: 'push', entry })),
    fc.constant({ kind: 'shift' }),
    fc.nat().map((which) => ({ kind: 'remove', which }))
  )
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 100 }), (steps) => {
      const queue = new Queue()
      const queued = new Set()
      for (const { kind, entry, which } of /** @type {any[]} */ (steps)) {
        if (kind === 'push') queued.add(pushed(queue, entry))
        else if (kind === 'shift') {
          const wasEmpty = queued.size === 0
          assert.equal(queued.delete(queue.shift()), !wasEmpty)
        } else if (queued.size > 0) {
          const request = [...queued][which % queued.size]
          queue.remove(request.ticket.queueEntry)
          queued.delete(request)
          assert.equal(request.ticket.queueEntry.isQueued, false)
        }
        assert.equal(queue.length, queued.size)
        assert.deepEqual(new Set(queue.scan(() => true)), queued)
        for (const request of queued) assert.ok(request.ticket.queueEntry.isQueued)
      }
    })
  )
})

/** How many of the queue run before a newcomer, counted by running them. */
function runBefore(queue, priority, tag) {
  const newcomer = pushed(queue, { priority, tag })
  let count = 0
  while (queue.shift() !== newcomer) count++
  return count
}

test('without keys, as many are ahead of a newcomer as run before it', () => {
  fc.assert(
    fc.property(
      fc.array(anyEntry, { maxLength: 40 }),
      fc.constantFrom(CRITICAL, HIGH, NORMAL, LOW),
      fc.nat({ max: 100 }),
      (entries, priority, removed) => {
        const queue = new Queue()
        const requests = entries.map((entry) => pushed(queue, { ...entry, tag: 0 }))
        for (const request of requests.slice(0, removed % (requests.length + 1)))
          queue.remove(request.ticket.queueEntry)
        const ahead = queue.ahead(priority, 0)
        assert.equal(ahead, runBefore(queue, priority, 0))
      }
    )
  )
})

test('with keys, those of a lower class are not ahead of a newcomer, whatever their tags', () => {
  const queue = new Queue()
  for (let i = 0; i < 10; i++) pushed(queue, { priority: LOW, tag: 1 })
  assert.equal(queue.ahead(CRITICAL, 2), 0)
})

test('with keys, removed requests are not ahead of a newcomer', () => {
  const queue = new Queue()
  pushed(queue, { tag: 1 })
  for (let i = 0; i < 10; i++) queue.remove(pushed(queue, { tag: 2 }).ticket.queueEntry)
  assert.equal(queue.ahead(NORMAL, 3), 1)
})

test('with keys, those of its class with a lower or the same tag are ahead, and all of higher classes', () => {
  const queue = new Queue()
  pushed(queue, { priority: HIGH, tag: 100 })
  for (const tag of [1, 2, 3, 4]) pushed(queue, { tag })
  assert.equal(queue.ahead(NORMAL, 3), 4)
})

test('with keys, whatever came and left, those with a lower or the same tag are ahead', () => {
  const step = fc.record({ tag: fc.nat({ max: 9 }), leaves: fc.constantFrom('stays', 'is removed', 'runs') })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 9 }), (steps, tag) => {
      const queue = new Queue()
      const queued = new Set()
      for (const { tag: each, leaves } of steps) {
        const request = pushed(queue, { tag: each })
        queued.add(request)
        if (leaves === 'is removed') queue.remove(request.ticket.queueEntry)
        const left = leaves === 'runs' ? queue.shift() : request
        if (leaves !== 'stays') queued.delete(left)
      }
      const ahead = [...queued].filter(({ ticket }) => ticket.queueEntry.tag <= tag)
      assert.equal(queue.ahead(NORMAL, tag), ahead.length)
    })
  )
})

test('the last is the one that runs after all others', () => {
  fc.assert(
    fc.property(fc.array(anyEntry, { maxLength: 40 }), fc.nat({ max: 40 }), (entries, removed) => {
      const queue = new Queue()
      const requests = entries.map((entry) => pushed(queue, entry))
      for (const request of requests.slice(0, removed)) queue.remove(request.ticket.queueEntry)
      const last = queue.last()?.request
      let ran
      while (queue.length > 0) ran = queue.shift()
      assert.equal(last, ran)
    })
  )
})

test('the bounds have the least of each mark of those queued, whichever request has it', () => {
  const queue = new Queue()
  const add = (marks) => {
    const request = requestWith({})
    request.ticket.priority = NORMAL
    request.ticket.queueEntry = new QueueEntry(request, { ...MARKS, tag: 0, ...marks })
    queue.push(request.ticket.queueEntry)
    return request.ticket.queueEntry
  }
  // Queued during a stall, which the stall-free clock learns of later.
  const first = add({ nowMs: 100, stallFreeMs: 100, maxWaitMs: 1000 })
  const second = add({ nowMs: 110, stallFreeMs: 40, maxWaitMs: 50 })
  const { bounds } = queue
  const figures = () => [bounds.queuedMs, bounds.queuedStallFreeMs, bounds.dueMs]
  assert.deepEqual(figures(), [100, 40, 160])
  assert.deepEqual(
    [158, 159].map((nowMs) => bounds.mayBePastDeadline(nowMs)),
    [false, true]
  )
  queue.remove(second)
  // What has left may still be in them, until a walk.
  assert.deepEqual(figures(), [100, 40, 160])
  assert.deepEqual(
    queue.scan(() => false),
    []
  )
  assert.deepEqual(figures(), [100, 100, 1100])
  queue.remove(first)
  assert.deepEqual(figures(), Array(3).fill(Number.POSITIVE_INFINITY))
  assert.equal(bounds.mayBePastDeadline(Number.MAX_VALUE), false)
})

test('requests removed from a queue that never empties are not retained, however many', () => {
  v8.setFlagsFromString('--expose-gc')
  const collect = vm.runInNewContext('gc')
  const queue = new Queue()
  const standing = pushed(queue, { priority: CRITICAL })
  const entries = []
  for (let i = 0; i < 10_000; i++) {
    const request = pushed(queue, { priority: LOW })
    entries.push(new WeakRef(/** @type {any} */ (request.ticket.queueEntry)))
    queue.remove(request.ticket.queueEntry)
  }
  return new Promise((resolve) => setImmediate(resolve)).then(() => {
    collect()
    const kept = entries.filter((ref) => ref.deref() !== undefined).length
    assert.ok(kept <= 1000, `${kept} of 10000 entries are kept`)
    assert.equal(queue.shift(), standing)
  })
})

test('the callback of a request that leaves runs in its async context, which is dropped', () => {
  const storage = new AsyncLocalStorage()
  const queue = new Queue()
  const request = storage.run('its own', () => pushed(queue))
  const seen = storage.run('another', () =>
    inRequestContext(request.ticket.queueEntry, request, function () {
      return [storage.getStore(), this === request]
    })
  )
  assert.deepEqual(seen, ['its own', true])
  assert.equal(request.ticket.queueEntry?.resource, undefined)
  const again = () => inRequestContext(request.ticket.queueEntry, request, () => storage.getStore())
  assert.equal(storage.run('another', again), 'another')
})
