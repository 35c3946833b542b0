'use strict'
// When a line says that the loop is still blocked, what it says, and where it goes. With a clock moved by
// hand.

const assert = require('node:assert/strict')
const os = require('node:os')
const { test } = require('node:test')
const pino = require('pino')
const { outputOf } = require('../../src/core/log/logger')
const { BlockedLog, lineWriter } = require('../../src/features/stalls/blocked-log')

const DESCRIBED = {
  call: 'RegExp.test of /^(a+)+$/',
  function: 'lookUpRate',
  file: 'rates.js',
  line: 7,
  package: null,
  frames: ['lookUpRate (rates.js:7)'],
  method: 'GET',
  route: '/shipping/:zip',
  origin: /** @type {const} */ ('request'),
  heapUsedBytes: 2e7,
}

function logOf({ isText = false, write = undefined } = {}) {
  const written = []
  const output = { fd: 1, isText, bindings: '"pid":7' }
  const writeLine = lineWriter(output, { wallMs: () => 42 }, write ?? ((...line) => written.push(line)))
  const log = new BlockedLog(writeLine, 1000)
  return { log, written }
}

test('the first line comes after blockedAfter, others after ten seconds and then every minute, until the loop turns', () => {
  const { log } = logOf()
  const due = [log.dueMs]
  for (const blockedMs of [1010, 10_200, 60_100, 130_000]) {
    log.act(blockedMs, { described: DESCRIBED, asleepIn: '' })
    due.push(log.dueMs)
  }
  assert.deepEqual(due, [1000, 10_000, 60_000, 120_000, 180_000])
  log.onBeat()
  assert.equal(log.dueMs, 1000)
})

test('a line has the shape of the log, with function, file, request and memory', () => {
  const { log, written } = logOf()
  log.act(1234.4, { described: DESCRIBED, asleepIn: '' })
  const [[fd, text]] = written
  const { rssBytes, msg, ...line } = JSON.parse(text)
  assert.deepEqual(
    [fd, line],
    [1, { level: 40, time: 42, pid: 7, event: 'blocked', blockedMs: 1234, ...DESCRIBED }]
  )
  assert.ok(rssBytes > 1e6)
  assert.match(
    msg,
    /^spillway: event loop blocked for 1\.2 s, and still is, by lookUpRate \(rates\.js:7\) calling RegExp\.test of \/\^\(a\+\)\+\$\/ in GET \/shipping\/:zip; \d+(\.\d)? MB of memory$/
  )
})

test('native code is told by what the system knows of the thread, and a terminal gets the sentence alone', () => {
  const { log, written } = logOf({ isText: true })
  log.act(1000, { described: undefined, asleepIn: 'waiting for the child process sleep (pid 9)' })
  assert.match(
    written[0][1],
    /^spillway: event loop blocked for 1 s, and still is, waiting for the child process sleep \(pid 9\); .* of memory\n$/
  )
})

test('a reader that has stopped is not waited for', () => {
  const { log } = logOf({
    write: () => {
      throw Object.assign(new Error('EAGAIN'), { code: 'EAGAIN' })
    },
  })
  log.act(1000, { described: undefined, asleepIn: 'in native code' })
})

test('lines go where our own logger writes, to standard error beside a logger of the application, and nowhere without warnings', () => {
  const fdOf = (logger) => outputOf(logger)?.fd
  assert.deepEqual(
    [{}, { level: 'info' }, { transport: { target: 'x' } }, pino({ enabled: false }), pino(), false].map(
      fdOf
    ),
    [1, 1, 2, undefined, 2, undefined]
  )
  assert.deepEqual(
    ['error', 'fatal', 'silent'].map((level) => fdOf({ level })),
    [undefined, undefined, undefined]
  )
  // Under a test runner our own logger is silent.
  assert.equal(fdOf(undefined), undefined)
  const bindings = JSON.parse(`{${outputOf({ name: 'orders' })?.bindings}}`)
  assert.deepEqual(bindings, {
    pid: process.pid,
    hostname: os.hostname(),
    name: 'orders',
    component: 'spillway',
  })
})
