'use strict'
// Values in the wrong unit: told with what was meant, and taken as they are.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { clusterPrimary, createSpillway } = require('../../src/index.js')
const { doubtsOf } = require('../../src/core/options/doubtful-units')
const { MEMBER_DEFAULTS } = require('../../src/core/options/member-options')
const { DEFAULTS, RULES } = require('../../src/core/options/table')
const { pinoWithLines } = require('../support/lines')
const { spillwayFor } = require('../support/spillway')
const { runAs } = require('../support/user-code')

const MS = 'every duration is in milliseconds'

const DOUBTED = [
  ['errors.timeout', 10, `is 10 ms: ${MS}. For 10 s write 10_000.`],
  ['errors.timeout', 0.5, `is 0.5 ms: ${MS}. For 0.5 s write 500.`],
  ['errors.timeout', 90, `is 90 ms: ${MS}. For 90 s write 90_000.`],
  ['drain.timeout', 20, 'For 20 s write 20_000.'],
  ['drain.timeout', 120, 'For 120 s write 120_000.'],
  ['drain.delay', 5, 'For 5 s write 5_000.'],
  ['shed.maxDelay', 0.2, 'For 0.2 s write 200.'],
  ['shed.targetDelay', 1, 'For 1 s write 1_000.'],
  ['shed.maxAge', 2, 'For 2 s write 2_000.'],
  ['deadline.default', 10, 'For 10 s write 10_000.'],
  ['deadline.max', 30, 'For 30 s write 30_000.'],
  ['shed.sampleInterval', 1, 'For 1 s write 1_000.'],
  ['shed.maxEventLoopDelay', 0.07, 'For 0.07 s write 70.'],
  ['memory.recycleAfter', 30, 'For 30 s write 30_000.'],
  ['memory.minUptime', 600, 'For 600 s write 600_000.'],
  ['health.check.timeout', 2, 'For 2 s write 2_000.'],
  ['health.check.cache', 10, 'For 10 s write 10_000.'],
  ['listen.timeout', 10, 'For 10 s write 10_000.'],
  ['clusterPrimary.startTimeout', 60, 'For 60 s write 60_000.'],
  ['clusterPrimary.killTimeout', 30, 'For 30 s write 30_000.'],
  ['memory.recycleAt', 80, 'is 80 bytes. For 80 % write 0.8. For 80 megabytes write 80 * 2 ** 20.'],
  ['memory.recycleAt', 512, 'is 512 bytes. For 512 megabytes write 512 * 2 ** 20.'],
  ['memory.recycleAt', 524_288, 'is 524288 bytes. For 524288 kilobytes write 524288 * 1024.'],
  ['shed.maxHeapUsedBytes', 80, 'is 80 bytes. For 80 megabytes write 80 * 2 ** 20.'],
  ['shed.maxRssBytes', 1, 'is 1 bytes. For 1 megabytes write 1 * 2 ** 20.'],
  [
    'shed.retryAfter',
    5000,
    'is 5000 s: it is in seconds, like the header `Retry-After`. For 5000 ms write 5.',
  ],
]

const PLAUSIBLE = [
  ['errors.timeout', 100],
  ['errors.timeout', () => 10],
  ['errors.timeout', Number.POSITIVE_INFINITY],
  ['drain.timeout', 0],
  ['drain.timeout', 200],
  ['drain.delay', 0],
  ['shed.maxDelay', 5],
  ['shed.targetDelay', 5],
  ['shed.maxAge', 200],
  ['deadline.default', 100],
  ['deadline.max', 100],
  ['shed.sampleInterval', 5],
  ['shed.maxEventLoopDelay', 0],
  ['shed.maxEventLoopDelay', 20],
  ['shed.retryAfter', 0],
  ['shed.retryAfter', 60],
  ['shed.retryAfter', 3600],
  ['memory.recycleAt', 0],
  ['memory.recycleAt', 0.8],
  ['memory.recycleAt', 1],
  ['memory.recycleAt', 64 * 2 ** 20],
  ['memory.recycleAfter', 0],
  ['memory.minUptime', 0],
  ['shed.maxRssBytes', 0],
  ['health.check.cache', 0],
  ['health.check.timeout', 50],
  ['metrics.buckets', [0.01, 0.1, 1]],
  ['metrics.buckets', [0.5, 5, 50, 500]],
  ['metrics.buckets', [1, 2, 5, 10, 30, 60]],
]

const split = (name) => [name.slice(0, name.lastIndexOf('.')), name.slice(name.lastIndexOf('.') + 1)]
const doubts = (name, value, isTested = () => false) => {
  const [group, key] = split(name)
  return doubtsOf(group, { [key]: value }, isTested)
}

for (const [name, value, sentence] of DOUBTED) {
  test(`\`${name}: ${value}\` is doubted`, () => {
    const [[option, told]] = doubts(name, value)
    assert.equal(option, name)
    assert.ok(told.startsWith(`\`${name}\` is ${value} `), told)
    assert.ok(told.endsWith(sentence), told)
    assert.ok(RULES[name][1](value), 'and can be had')
  })
}

for (const [name, value] of PLAUSIBLE) {
  test(`\`${name}: ${typeof value === 'function' ? 'a function' : value}\` is not doubted`, () => {
    assert.deepEqual(doubts(name, value), [])
  })
}

test('a test runner takes the doubt from `drain.timeout`, and from no other duration', () => {
  const doubtedInTests = DOUBTED.filter(([name, value]) => doubts(name, value, () => true).length > 0)
  assert.deepEqual(
    DOUBTED.filter((each) => !doubtedInTests.includes(each)).map(([name]) => name),
    ['drain.timeout', 'drain.timeout']
  )
  assert.deepEqual(doubtsOf('drain', { timeout: 100 }), [], 'node:test surrounds this process')
})

test('bounds that look like milliseconds are doubted, and shown in seconds', () => {
  const said = (buckets) => doubts('metrics.buckets', buckets).map(([, sentence]) => sentence)
  const IN_SECONDS = 'bounds are in seconds, like the metric. For milliseconds write'
  assert.deepEqual(said([5, 10, 25, 50, 100, 250, 500, 1000]), [
    `\`metrics.buckets\` is [5, 10, 25, …] up to 1000 s: ${IN_SECONDS} [0.005, 0.01, 0.025, …].`,
  ])
  assert.deepEqual(said([1, 100]), [
    `\`metrics.buckets\` is [1, 100] up to 100 s: ${IN_SECONDS} [0.001, 0.1].`,
  ])
})

test('no default is doubted', () => {
  for (const [group, values] of Object.entries({ ...DEFAULTS, ...MEMBER_DEFAULTS }))
    assert.deepEqual(
      doubtsOf(group, values, () => false),
      [],
      group
    )
})

test('a doubt is a warning that names the line of the call, once however often it runs; the value holds', (t) => {
  const { lines, logger } = pinoWithLines({ base: null })
  const code =
    '\nreturn createSpillway({ logger, errors: { timeout: 10 }, drain: { timeout: 20, delay: 5 } })'
  for (let i = 0; i < 2; i++) {
    const spillway = runAs('units-options.js', code, { createSpillway, logger })
    t.after(() => spillway.close())
  }
  assert.deepEqual(
    lines.map(({ level, mistake, subject, at, msg }) => [level, mistake, subject, at, msg.split(': ')[1]]),
    [
      [40, 'doubtful-unit', 'errors.timeout', 'units-options.js:2:8', 'units-options.js:2'],
      [40, 'doubtful-unit', 'drain.delay', 'units-options.js:2:8', 'units-options.js:2'],
    ]
  )
})

test('members doubt their own options, and not those of earlier calls', async (t) => {
  const { lines, logger } = pinoWithLines({ base: null })
  const spillway = spillwayFor(t, { logger, memory: { recycleAfter: 60_000 } })
  const given = { spillway }
  runAs('units-check.js', "spillway.health.check('a', () => true, { timeout: 2 })", given)
  runAs('units-update.js', '\n\nspillway.update({ shed: { maxDelay: 1 } })', given)
  runAs('units-update.js', "spillway.update({ shed: { mode: 'observe' } })", given)
  await runAs('units-drain.js', '\nreturn spillway.drain({ timeout: 5, delay: 1 })', given)
  assert.deepEqual(
    lines.filter(({ mistake }) => mistake !== undefined).map(({ subject, at }) => [subject, at]),
    [
      ['health.check.timeout', 'units-check.js:1:17'],
      ['shed.maxDelay', 'units-update.js:3:10'],
      ['drain.delay', 'units-drain.js:2:17'],
    ]
  )
})

test('the primary doubts too', async () => {
  const { lines, logger } = pinoWithLines({ base: null })
  const code = 'return clusterPrimary({ workers: 1, exec, killTimeout: 30, logger })'
  const exec = require.resolve('../support/lines.js')
  const primary = runAs('units-primary.js', code, { clusterPrimary, exec, logger })
  await primary.stop()
  const [{ subject, at }] = lines
  assert.deepEqual([subject, at], ['clusterPrimary.killTimeout', 'units-primary.js:1:8'])
})
