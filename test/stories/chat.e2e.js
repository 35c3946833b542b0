'use strict'
// The story of a chat: the event, the function that blocks the loop for it, the connections that are refused,
// and the times of the event.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { told } = require('./told')

test('chat: copyOf is named for the event loudspeaker, and connections are refused, never a message', async () => {
  const [before, refuses, after] = (await told('chat')).runs
  const eventOf = ({ extra }) => extra.sockets.events.find(({ event }) => event === 'loudspeaker')

  const site = before.stalls.sites.find(({ route }) => route === 'loudspeaker')
  assert.deepEqual([site.function, site.file, site.origin], ['copyOf', 'app.js', 'event'])
  const [costliest] = before.extra.functions.filter((each) => each.package === null)
  assert.match(costliest.name, /^(findAll|copyOf)$/)
  assert.deepEqual(before.extra.sockets.connections.refused, {})

  const { opened, refused } = refuses.extra.sockets.connections
  assert.ok(refused.loop > 0 && opened > 0, JSON.stringify(refused))
  for (const run of [before, refuses, after]) {
    const { acks, outcomes } = eventOf(run)
    assert.ok(acks.sinceStart.count > 0)
    assert.equal(acks.sinceStart.count, outcomes.completed)
    assert.deepEqual([outcomes.errored, outcomes.blocked, outcomes.shed], [0, 0, 0])
    const [emitted] = run.parts.filter(({ name }) => name.startsWith('emit()'))
    assert.ok(emitted.count > 0)
  }
  assert.ok(after.stalls.sites.every((each) => each.function !== 'copyOf'))
})
