'use strict'
// One application. It takes a CPU profile of itself while it is asked, and sends what each route cost: by the
// profile, and by Spillway.

const { once } = require('node:events')
const express = require('express')
const { createSpillway } = require('../../src/index.js')
const applications = require('./applications')

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
  const { port: adminPort } = await spillway.listen({ port: 0 })
  /**
   * Node's idle time is wrong while a profile is taken. Spillway corrects it for its own.
   *
   * @param {number} seconds
   */
  const profileFor = async (seconds) => {
    const before = loopMs(spillway)
    const url = `http://127.0.0.1:${adminPort}/profile?seconds=${seconds}`
    const profile = await (await fetch(url, { method: 'POST' })).json()
    return { profiled: byRoute(profile, files), counted: difference(loopMs(spillway), before) }
  }
  process.on('message', async (/** @type {number} */ seconds) =>
    process.send?.({ answer: await profileFor(seconds) })
  )
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
