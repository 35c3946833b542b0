'use strict'
// A `/readyz` that says 503 while the pressure is high: with hysteresis, for a minute at most, and one
// process of a fleet at a time.

const assert = require('node:assert/strict')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const { Health } = require('../../src/core/lifecycle/health')
const { Readiness } = require('../../src/features/balancer/readiness')
const { createSpillway } = require('../../src')
const { handClock } = require('../support/hand-clock')

function made({ token = { take: async () => true, giveBack() {} } } = {}) {
  const clock = handClock()
  const events = []
  const health = new Health({ isManual: false, clock, onCheckChange() {} })
  const listeners = []
  const pressure = { ratio: 0, onSample: (listener) => listeners.push(listener) }
  const readiness = new Readiness({
    clock,
    maxPressure: 0.9,
    pressure,
    health,
    token,
    info: ({ event }) => events.push(event),
  })
  const pass = async (ms, ratio) => {
    pressure.ratio = ratio
    for (let left = ms; left > 0; left -= 100) {
      clock.pass(100)
      if (ratio > 0) for (const listener of listeners) listener(ratio)
      await Promise.resolve()
      await Promise.resolve()
    }
  }
  return { events, health, pass, readiness, status: () => health.ready().status }
}

test('/readyz says 503 after five seconds at the pressure, and 200 again at 0.2 less', async () => {
  const { events, health, pass, status } = made()
  await pass(4900, 0.95)
  assert.equal(status(), 200)
  await pass(500, 0.95)
  assert.deepEqual(health.ready(), { status: 503, body: { status: 'unavailable', reason: 'pressure' } })
  await pass(10_000, 0.75)
  assert.equal(status(), 503)
  await pass(600, 0.69)
  assert.equal(status(), 200)
  assert.deepEqual(events, ['unready', 'readyAgain'])
})

test('a pressure that falls for a moment counts from its next rise', async () => {
  const { pass, status } = made()
  for (let i = 0; i < 5; i++) {
    await pass(4000, 0.95)
    await pass(100, 0.85)
  }
  assert.equal(status(), 200)
})

test('it stays away for five seconds at least, though the pressure is 0 at once and no sample comes', async () => {
  const { pass, status } = made()
  await pass(5500, 1)
  await pass(4000, 0)
  assert.equal(status(), 503)
  await pass(1500, 0)
  assert.equal(status(), 200)
})

test('no cause keeps it away: after a minute it is back, and stays for one', async () => {
  const { pass, status } = made()
  await pass(5500, 1)
  assert.equal(status(), 503)
  await pass(60_500, 1)
  assert.equal(status(), 200)
  await pass(59_000, 1)
  assert.equal(status(), 200)
  await pass(8000, 1)
  assert.equal(status(), 503)
})

test('without the token of the fleet it stays; closed while away, it gives the token back', async () => {
  let isFree = false
  let given = 0
  const token = { take: async () => isFree, giveBack: () => given++ }
  const { pass, readiness, status } = made({ token })
  await pass(30_000, 1)
  assert.equal(status(), 200)
  isFree = true
  await pass(6000, 1)
  assert.equal(status(), 503)
  readiness.close()
  assert.equal(given, 1)
})

test('a failed check or a drain shows its own reason', async () => {
  const { health, pass } = made()
  await pass(5500, 1)
  health.markDraining()
  assert.equal(health.ready().body.reason, 'draining')
})

test('of the processes of a fleet one is away at a time, another follows, and the last one stays', async (t) => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-token-'))
  const children = []
  t.after(() => {
    for (const child of children) child.kill('SIGKILL')
    fs.rmSync(directory, { recursive: true, force: true })
  })
  const member = async () => {
    const child = fork(path.join(__dirname, 'token-member.js'), [directory])
    children.push(child)
    await once(child, 'message')
    const ask = async (what) => {
      child.send(what)
      const [answer] = await once(child, 'message')
      return answer
    }
    return { ask, child }
  }
  const one = await member()
  assert.equal(await one.ask('take'), false, 'alone it stays')
  const two = await member()
  assert.equal(await one.ask('take'), true)
  assert.equal(await two.ask('take'), false)
  assert.equal(await one.ask('take'), true, 'it has the token already')
  await one.ask('giveBack')
  assert.equal(await two.ask('take'), true)
  assert.equal(await one.ask('take'), false)
  two.child.kill('SIGKILL')
  await once(two.child, 'exit')
  const three = await member()
  // The first that asks removes what the killed member has left.
  assert.equal(await one.ask('take'), false)
  assert.equal(await one.ask('take'), true)
  assert.equal(await three.ask('take'), false)
  one.child.send('close')
  await once(one.child, 'exit')
  const four = await member()
  assert.equal(await four.ask('take'), true, 'a member that ends gives the token back')
})

test('`health.maxPressure` is checked', () => {
  assert.throws(() => createSpillway({ health: { maxPressure: 2 } }), /health\.maxPressure/)
})
