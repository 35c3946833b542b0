'use strict'
// Memory as Node tells it, and the limit with a container's and without.

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { once } = require('node:events')
const os = require('node:os')
const { test } = require('node:test')
const v8 = require('node:v8')
const { Worker } = require('node:worker_threads')
const { Memory, memoryForGate, memoryForRecycling } = require('../../src/core/process/memory')

const GIB = 2 ** 30

function limitWith(t, constrainedMemory) {
  const own = Object.getOwnPropertyDescriptor(process, 'constrainedMemory')
  Object.defineProperty(process, 'constrainedMemory', { configurable: true, value: constrainedMemory })
  t.after(() => Object.defineProperty(process, 'constrainedMemory', own))
  return new Memory().sample().limitBytes
}

for (const [title, constrainedMemory] of [
  ['Node knows none', () => 0],
  ['Node answers nothing', () => undefined],
  ['Node has no such function', undefined],
  ["the kernel's word for unlimited is 2^64 - 4096", () => 2 ** 64 - 4096],
  ["a container's limit is above the machine", () => os.totalmem() + GIB],
]) {
  test(`without a limit the machine's memory is the limit: ${title}`, (t) => {
    assert.equal(limitWith(t, constrainedMemory), os.totalmem())
  })
}

test("a container's limit is the limit", (t) => {
  const limit = Math.floor(os.totalmem() / 2)
  assert.equal(
    limitWith(t, () => limit),
    limit
  )
})

test('the heap is shown in total and by space, with its limit', () => {
  const sample = new Memory().sample()
  assert.equal(sample.heapLimitBytes, v8.getHeapStatistics().heap_size_limit)
  assert.ok(sample.heapUsedBytes > 0 && sample.heapUsedBytes <= sample.heapTotalBytes)
  assert.deepEqual(
    sample.spaces.map(({ name }) => name),
    v8.getHeapSpaceStatistics().map(({ space_name }) => space_name)
  )
  for (const space of sample.spaces) {
    for (const bytes of [space.usedBytes, space.sizeBytes, space.availableBytes, space.physicalBytes]) {
      assert.ok(Number.isInteger(bytes) && bytes >= 0, `${space.name}: ${bytes}`)
    }
  }
})

const TELL = `
  const { Memory, memoryForGate, memoryForRecycling } = require(${JSON.stringify(require.resolve('../../src/core/process/memory'))})
  const collections = { heapAfterBytes: 1 }
  const all = [memoryForGate({ collections }), memoryForRecycling({ collections }).heap, new Memory().sample()]
  const told = all.map(({ heapLimitBytes, limitBytes }) => (heapLimitBytes ?? limitBytes) / 2 ** 20)`
const PRINT = `${TELL}; console.log(JSON.stringify(told))`

for (const [how, args, options] of [
  ['--max-old-space-size', ['--max-old-space-size=256']],
  ['--max_old_space_size, the last of two', ['--max_old_space_size=512', '--max-old-space-size=256']],
  ['NODE_OPTIONS', [], '--enable-source-maps --max-old-space-size=256'],
  ['an argument beside NODE_OPTIONS', ['--max-old-space-size=256'], '--max-old-space-size=512'],
]) {
  test(`the heap after collections is compared with its limit, given by ${how}`, () => {
    const env = { ...process.env, NODE_OPTIONS: options ?? '' }
    const told = execFileSync(process.execPath, [...args, '-e', PRINT], { env, encoding: 'utf8' })
    assert.deepEqual(JSON.parse(told), [256, 256, 256])
  })
}

test('resident memory is that of the process, and memory outside the heap is seen', () => {
  const outside = Buffer.alloc(50_000_000, 1)
  const after = new Memory().sample()
  // Not compared with before: a collection may have freed other memory outside the heap meanwhile.
  assert.ok(after.externalBytes >= outside.length)
  assert.ok(after.rssBytes > after.heapUsedBytes)
})

test('if resident memory cannot be read, as without a free descriptor, it is the last value, or else the maximum', (t) => {
  const name = require.resolve('../../src/core/process/memory')
  const { [name]: known } = require.cache
  delete require.cache[name]
  const unread = require(name)
  require.cache[name] = known
  const before = new Memory().sample().rssBytes
  t.mock.method(process.memoryUsage, 'rss', () => {
    throw new Error('EMFILE: too many open files, uv_resident_set_memory')
  })
  const collections = { heapAfterBytes: 1 }
  assert.equal(new Memory().sample().rssBytes, before)
  assert.equal(memoryForGate({ collections }).rssBytes, before)
  assert.equal(memoryForRecycling({ collections }).rss.usedBytes, before)
  assert.ok(new unread.Memory().sample().rssBytes > 2 ** 20)
})

test('the heap after collections of a worker thread is compared with the limit of the worker', async () => {
  const code = `${TELL}; require('node:worker_threads').parentPort.postMessage(told)`
  const worker = new Worker(code, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 100 } })
  const [[told]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')])
  assert.deepEqual(told, [100, 100, 100])
})
