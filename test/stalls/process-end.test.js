'use strict'
// Which signals that a process sends to itself count as its end.

const assert = require('node:assert/strict')
const { constants } = require('node:os')
const { test } = require('node:test')
const { watchProcessEnd } = require('../../src/features/stalls/stall-watcher')

/** @returns {(signal?: any) => number} how often the end was told for such a signal, which is not sent */
function setUp(t) {
  let told = 0
  const { kill } = process
  t.mock.method(process, 'kill', () => true)
  const unwatch = watchProcessEnd(() => told++)
  t.after(() => {
    unwatch()
    process.kill = kill
  })
  return (signal) => {
    told = 0
    process.kill(process.pid, signal)
    return told
  }
}

for (const signal of [undefined, 'SIGTERM', 'SIGKILL', 'SIGHUP', constants.signals.SIGINT])
  test(`${signal ?? 'no signal'} ends the process`, (t) => {
    assert.equal(setUp(t)(signal), 1)
  })

for (const signal of [0, 'SIGCONT', 'SIGWINCH', 'SIGTSTP', 'SIGNOTHING', 999, constants.signals.SIGCHLD])
  test(`${signal} does not`, (t) => {
    assert.equal(setUp(t)(signal), 0)
  })

test('a signal with a listener does not, by name and by number', (t) => {
  const listener = () => {}
  process.on('SIGUSR2', listener)
  t.after(() => process.off('SIGUSR2', listener))
  const told = setUp(t)
  assert.deepEqual([told('SIGUSR2'), told(constants.signals.SIGUSR2)], [0, 0])
})
