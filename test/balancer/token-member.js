'use strict'
// node token-member.js <directory>, forked: a member of a fleet that takes the token and gives it back when
// it is told to.

const { CallPlace } = require('../../src/core/call-place')
const { systemClock } = require('../../src/core/clock')
const { resolveOptions } = require('../../src/core/options/options')
const { Instance } = require('../../src/instance')

const options = { logger: false, fleet: { name: 'tokens', directory: process.argv[2] } }
const instance = new Instance(resolveOptions(options), systemClock, new CallPlace(resolveOptions))
const { fleet } = instance.startedFeatures

process.on('message', async (what) => {
  if (what === 'take') return process.send(await fleet.takeToken())
  if (what === 'giveBack') fleet.giveBackToken()
  if (what !== 'close') return process.send('done')
  instance.close()
  process.exit()
})
// Once it has joined.
fleet.gather().then(({ release }) => {
  release()
  process.send('joined')
})
