'use strict'
// The story of a log-in that stops the shop: the stall and the doctor name function and route; mended, no
// function is named.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { told } = require('./told')

test('blocking-hash: hashPassword in POST /login is named, and not in the thread pool', async () => {
  const [before, after] = (await told('blocking-hash')).runs

  const site = before.stalls.sites.find(({ route }) => route === '/login')
  assert.deepEqual([site.function, site.file, site.method], ['hashPassword', 'app.js', 'POST'])
  assert.ok(site.frames.some((frame) => frame.startsWith('pbkdf2Sync ')))
  const finding = before.found.find(({ problem }) => problem === 'event-loop-blocked')
  assert.equal(finding.route, 'POST /login')
  assert.match(finding.advice, /use crypto\.pbkdf2/)
  const lines = before.log.filter(({ event }) => event === 'stall').map(({ message }) => message)
  assert.ok(
    lines.some((line) =>
      /by hashPassword \(.*app\.js:\d+\)(?: calling pbkdf2Sync)? in POST \/login/.test(line)
    )
  )

  assert.ok(after.parts.every(({ errors }) => errors === 0))
  assert.ok(after.stalls.sites.every((each) => each.function !== 'hashPassword'))
})
