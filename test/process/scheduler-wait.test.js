'use strict'

const assert = require('node:assert/strict')
const { existsSync } = require('node:fs')
const { test } = require('node:test')
const { MAIN_THREAD, OWN_THREAD, schedulerWait } = require('../../src/core/process/scheduler-wait')

test('it reads the time on a CPU and the time waiting for one', () => {
  assert.deepEqual(
    schedulerWait(OWN_THREAD, () => '128000000 1922500000 17\n'),
    { ranMs: 128, waitedMs: 1922.5 }
  )
})

test('a system without the file, and a kernel that does not count, have no figure', () => {
  const missing = () => {
    throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
  }
  assert.equal(schedulerWait(OWN_THREAD, missing), undefined)
  assert.equal(
    schedulerWait(OWN_THREAD, () => '0 0 0\n'),
    undefined
  )
  assert.equal(
    schedulerWait(OWN_THREAD, () => ''),
    undefined
  )
})

test('on Linux both paths are of this thread', { skip: !existsSync(OWN_THREAD) }, () => {
  const own = schedulerWait(OWN_THREAD)
  assert.ok(own === undefined || own.ranMs > 0)
  // The tests run on the main thread.
  assert.equal(own === undefined, schedulerWait(MAIN_THREAD) === undefined)
})
