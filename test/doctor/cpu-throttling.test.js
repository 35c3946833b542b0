'use strict'
// With the files of real containers: cgroup v2 and v1, inside and outside of the container.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { CpuThrottling } = require('../../src/features/doctor/cpu-throttling')

const V2 = `usage_usec 8213410
user_usec 6120010
system_usec 2093400
core_sched.force_idle_usec 0
nr_periods 412
nr_throttled 103
throttled_usec 5150000
nr_bursts 0
burst_usec 0
`
const V1 = `nr_periods 412
nr_throttled 103
throttled_time 5150000000
`
const FIGURES = { periods: 412, throttledPeriods: 103, throttledMs: 5150 }

/** @param {Record<string, string>} files */
function throttlingOf(files) {
  const read = []
  const throttling = new CpuThrottling((path) => {
    read.push(path)
    if (files[path] === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
    return files[path]
  })
  return { throttling, read }
}

test('in a container: cgroup v2, and v1 with either name of its controller', () => {
  for (const [path, text] of [
    ['/sys/fs/cgroup/cpu.stat', V2],
    ['/sys/fs/cgroup/cpu/cpu.stat', V1],
    ['/sys/fs/cgroup/cpu,cpuacct/cpu.stat', V1],
  ]) {
    const { throttling } = throttlingOf({ '/proc/self/cgroup': '0::/\n', [path]: text })
    assert.deepEqual(throttling.sample(), FIGURES, path)
  }
})

test('outside of one: the cgroup of the process goes before the root', () => {
  const slice = 'system.slice/shop.service'
  const other = V2.replace('103', '7')
  const v2 = throttlingOf({
    '/proc/self/cgroup': `0::/${slice}\n`,
    '/sys/fs/cgroup/cpu.stat': other,
    [`/sys/fs/cgroup/${slice}/cpu.stat`]: V2,
  })
  assert.deepEqual(v2.throttling.sample(), FIGURES)
  const v1 = throttlingOf({
    '/proc/self/cgroup': `4:memory:/${slice}\n2:cpu,cpuacct:/${slice}\n`,
    [`/sys/fs/cgroup/cpu,cpuacct/${slice}/cpu.stat`]: V1,
  })
  assert.deepEqual(v1.throttling.sample(), FIGURES)
})

test('without a limit, or without the file, there is no figure, and the files are looked for once', () => {
  const root = {
    '/proc/self/cgroup': '0::/\n',
    '/sys/fs/cgroup/cpu.stat': 'usage_usec 1\nuser_usec 1\nsystem_usec 0\n',
  }
  for (const files of [root, {}]) {
    const { throttling, read } = throttlingOf(files)
    assert.equal(throttling.sample(), undefined)
    const looked = read.length
    assert.equal(throttling.sample(), undefined)
    assert.equal(read.length, looked)
  }
})

test('a later reading reads the file that had figures', () => {
  const files = { '/sys/fs/cgroup/cpu.stat': V2 }
  const { throttling } = throttlingOf(files)
  throttling.sample()
  files['/sys/fs/cgroup/cpu.stat'] = V2.replace('nr_periods 412', 'nr_periods 512')
  assert.equal(throttling.sample()?.periods, 512)
})
