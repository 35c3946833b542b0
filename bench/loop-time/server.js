'use strict'
// One application. It takes a CPU profile of itself while it is asked, and sends what each route cost: by the profile, and by Spillway.

const { once } = require('node:events')
const inspector = require('node:inspector/promises')
const express = require('express')
const { createSpillway } = require('../../src/index.js')
const applications = require('./applications')

const INTERVAL_US = 500
const [, , name, upstream] = process.argv
const COLLECTOR = '(garbage collector)'
const OUTSIDE = new Set(['(program)', '(idle)', '(root)'])

async function main() {
  const spillway = createSpillway({ logger: false, fleet: false })
  const app = express()
  app.use(spillway.express())
  const { mix, files = {} } = applications[name]({ app, express, spillway, upstream })
  app.use(spillway.errorHandler())
  const server = app.listen(0, '127.0.0.1')
  spillway.attach(server)
  await once(server, 'listening')
  const session = new inspector.Session()
  session.connect()
  let before
  const answers = {
    async begin() {
      await session.post('Profiler.enable')
      await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US })
      await session.post('Profiler.start')
      before = loopMs(spillway)
    },
    async end() {
      const after = loopMs(spillway)
      const { profile } = await session.post('Profiler.stop')
      return { profiled: byRoute(profile, files), counted: difference(after, before) }
    },
  }
  process.on('message', async (/** @type {string} */ key) => process.send?.({ answer: await answers[key]() }))
  process.on('disconnect', () => process.exit())
  process.send?.({ port: server.address().port, mix })
}

const loopMs = (spillway) =>
  Object.fromEntries(
    spillway.snapshot().routes.map(({ route, loopMs: ms }) => [route.slice(1), ms.sinceStart])
  )

const difference = (after, before) =>
  Object.fromEntries(Object.entries(after).map(([route, ms]) => [route, ms - (before[route] ?? 0)]))

/** Time by route, in milliseconds. A collection belongs to what ran before it. */
function byRoute({ nodes, samples, timeDeltas }, files) {
  const owners = new Map()
  const visit = (id, owner) => {
    const { callFrame, children = [] } = byId.get(id)
    const own = ownerOf(callFrame, files) ?? owner
    owners.set(id, own)
    for (const child of children) visit(child, own)
  }
  const byId = new Map(nodes.map((node) => [node.id, node]))
  visit(nodes[0].id, undefined)
  const sums = {}
  let last
  for (const [i, id] of samples.entries()) {
    const { functionName } = byId.get(id).callFrame
    if (functionName !== COLLECTOR)
      last = OUTSIDE.has(functionName) ? undefined : (owners.get(id) ?? 'others')
    if (last !== undefined) sums[last] = (sums[last] ?? 0) + (timeDeltas[i + 1] ?? 0) / 1000
  }
  return sums
}

function ownerOf({ functionName, url }, files) {
  const named = /^of_([a-z]+)_/.exec(functionName)
  if (named !== null) return named[1]
  return Object.keys(files).find((route) => files[route].test(url))
}

main()
