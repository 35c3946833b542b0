'use strict'
// node turn-member.js <directory>, forked: a member of a fleet that takes and ends its turn when it is told
// to.

const { CallPlace } = require('../../src/core/call-place')
const { systemClock } = require('../../src/core/clock')
const { resolveOptions } = require('../../src/core/options/options')
const { Instance } = require('../../src/instance')

const options = { logger: false, fleet: { name: 'turns', directory: process.argv[2] } }
const instance = new Instance(resolveOptions(options), systemClock, new CallPlace(resolveOptions))
const { fleet } = instance.startedFeatures

process.on('message', async (what) => {
  if (what === 'take') return process.send(await fleet.takeTurn())
  if (what === 'end') fleet.endTurn()
  if (what !== 'close') return process.send('done')
  instance.close()
  process.exit()
})
// Once it has joined.
fleet.gather().then(({ release }) => {
  release()
  process.send('joined')
})
