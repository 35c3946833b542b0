'use strict'
// Processes that take more memory than they may, and how they end. When it is time: recycle.test.js.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { test } = require('node:test')

const WORKER = path.join(__dirname, 'recycled-worker.js')

async function run(t, how) {
  const child = spawn(process.execPath, [WORKER, how], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (piece) => {
    text += piece
  })
  const [code, signal] = await once(child, 'close')
  const told = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  return { code, signal, told }
}

test('a process without a primary reports that it is degraded, drains, and exits with 0', async (t) => {
  const { code, signal, told } = await run(t, 'plain')
  assert.deepEqual(told, [{ degraded: 'rss' }, { draining: 'rss' }])
  assert.deepEqual({ code, signal }, { code: 0, signal: null })
})

test('a worker of clusterPrimary() is replaced, and the primary stops cleanly', {
  skip: process.platform === 'win32',
}, async (t) => {
  const { code, told } = await run(t, 'primary')
  assert.deepEqual(told.slice(0, 2), [{ degraded: 'rss' }, { replaced: 'rss' }])
  assert.deepEqual(told[2], { code: 0, workers: [], replaced: 1, crashed: 0, killed: 0 })
  assert.equal(code, 0)
})
