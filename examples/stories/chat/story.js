'use strict'
// The load of the story, what is compared, and what Spillway has to say. During the first run a profile is
// taken, as by `npx spillway profile`.

const path = require('node:path')
const { setTimeout: delay } = require('node:timers/promises')
const { ARTILLERY_FLAG, artilleryLoad, artilleryMissing } = require('../frame/artillery')
const { costliestText, takeProfile } = require('../frame/profile')

const CLIENTS_PER_SECOND = 25
const EVENT = 'loudspeaker'
const PROFILE_SECONDS = 3
const SHORT_PROFILE_SECONDS = 1
const MAX_FUNCTIONS = 10
/** Time until the loop is full. */
const FULL_SECONDS = 2

const eventOf = (snapshot) => snapshot?.sockets.events.find(({ event }) => event === EVENT)
const refusedOf = ({ sockets }) =>
  Object.values(sockets.connections.refused).reduce((sum, count) => sum + count, 0)

module.exports = {
  title: 'A chat that lets everybody in',
  summary: 'an event that fills the loop, and what a load test measures',
  intro:
    'A chat has a loudspeaker: a message goes to everybody within five kilometres. For each message it looks at a copy of all 5000 users. ' +
    `${CLIENTS_PER_SECOND} visitors a second connect, send three messages, wait for the acknowledgement of each, and leave. They give up after five seconds.`,
  runs: [
    {
      name: 'before',
      what: 'looks at every user, lets every visitor in',
      isTold: ({ watch }) =>
        watch.profiles.length > 0 &&
        eventOf(watch.snapshot)?.acks &&
        watch.snapshot.stalls.sites.some(({ route }) => route === EVENT),
    },
    {
      name: 'refuses',
      what: 'the same, and Spillway refuses new connections in overload',
      env: { SHED: 'adaptive' },
      isTold: ({ watch }) => watch.snapshot !== undefined && refusedOf(watch.snapshot) > 0,
    },
    {
      name: 'after',
      what: 'looks at the users around',
      args: ['--fixed'],
      isTold: ({ watch }) => eventOf(watch.snapshot)?.acks,
    },
  ],
  load: { script: path.join(__dirname, 'clients.js') },
  flags: ARTILLERY_FLAG,
  missing: artilleryMissing,
  setUp: (own) => ({
    load: own.artillery ? artilleryLoad(__dirname) : { perSecond: CLIENTS_PER_SECOND },
  }),
  async meanwhile({ watch, run, load, short }) {
    if (run.name === 'before') {
      await delay(FULL_SECONDS * 1000)
      await takeProfile(watch, 'profile', short ? SHORT_PROFILE_SECONDS : PROFILE_SECONDS)
    }
    await load.ended
    const snapshot = await watch.get('/snapshot')
    const functions = watch.profiles[0]?.functions.slice(0, MAX_FUNCTIONS)
    return {
      functions,
      sockets: snapshot.sockets,
      said: {
        sockets: connectionsText(snapshot),
        event: eventText(snapshot),
        ...(functions && { profile: costliestText(functions) }),
      },
    }
  },
  learn: [
    'A message that takes 20 ms is not slow, 50 of them a second are: the loop is full, and everything waits for it. New connections wait ' +
      'longest, because Node accepts one in each turn of its event loop.',
    'A visitor that is let into a full server makes it slower for all. Spillway refuses new connections with 503 and Retry-After, never one ' +
      'that is open, so that the others chat on.',
    'Know what a number measures. emit() returns when the message is in a buffer: a test that waits for no acknowledgement measures that. A ' +
      'whole session contains its pauses. The event of Spillway begins when the server reads the message: what a client waits before ' +
      'that is the delay of the event loop.',
  ],
  picture: {
    title: 'Time to connect, and of a message until its acknowledgement',
    panels: [
      { title: 'p99 of connecting, ms', part: 'connect', figure: 'p99Ms', scale: 'log' },
      {
        title: 'p99 of a message until its acknowledgement, ms',
        part: 'message, until acknowledged',
        figure: 'p99Ms',
        scale: 'log',
      },
      { title: 'acknowledgements a second', part: 'message, until acknowledged', figure: 'perSecond' },
    ],
  },
}

function connectionsText(snapshot) {
  const { opened, refused } = snapshot.sockets.connections
  const reasons = Object.keys(refused).join(', ')
  return `${opened} connections opened, ${refusedOf(snapshot)} refused${reasons === '' ? '' : ` (${reasons})`}`
}

function eventText(snapshot) {
  const event = eventOf(snapshot)
  if (!event?.acks) return `no message '${EVENT}' was acknowledged`
  const { count, p50Ms, p99Ms } = event.acks.sinceStart
  return `${EVENT}: ${count} messages, from receipt to acknowledgement p50 ${Math.round(p50Ms)} ms, p99 ${Math.round(p99Ms)} ms. The event loop was late by up to ${Math.round(snapshot.runtime.loop.delayMs.p99)} ms (p99) before a message was read`
}
