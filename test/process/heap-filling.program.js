'use strict'
// A real process with a small heap that a timer fills: it says so before V8 ends it.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { test } = require('node:test')
const { outsideTests } = require('../support/outside-tests')

// 5 MB a second, so that half of the heap is free when five seconds have passed.
const LEAKING = `
  const { createSpillway } = require('./src/index.js')
  createSpillway()
  const kept = []
  setInterval(() => kept.push(Array.from({ length: 2500 }, (_, i) => ({ a: i + 0.5 }))), 20)
`

test('a process whose heap fills says so once, and then V8 ends it', async (t) => {
  const child = spawn(process.execPath, ['--max-old-space-size=80', '-e', LEAKING], {
    cwd: path.join(__dirname, '../..'),
    env: outsideTests(),
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.after(() => child.kill('SIGKILL'))
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (piece) => (text += piece))
  const [, signal] = await once(child, 'close')
  assert.notEqual(signal, null)
  const lines = text
    .split('\n')
    .filter((line) => line.includes('"heapFilling"'))
    .map((line) => JSON.parse(line))
  assert.equal(lines.length, 1, text)
  const [{ level, msg, usedBytes, limitBytes, secondsToLimit }] = lines
  assert.equal(level, 40)
  assert.ok(usedBytes >= limitBytes / 2 && limitBytes === 80 * 2 ** 20, msg)
  assert.ok(secondsToLimit > 0 && secondsToLimit <= 30, msg)
  assert.match(msg, /^spillway: the heap is full in \d+ s, and Node\.js then ends the process: /)
})
