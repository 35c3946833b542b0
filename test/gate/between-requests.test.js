'use strict'
// What runs between two requests that are dequeued in one turn of the loop: ticks and promises, as between
// the handlers of two sockets without us. What an application counts in them, such as restify's requests in
// flight, is right.

const assert = require('node:assert/strict')
const http = require('node:http')
const { test } = require('node:test')
const express = require('express')
const { RESTIFY_SKIP: skip } = require('../support/restify')
const { serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')
const { QUEUE, attached, holdingServer, until } = require('./holding-server')

const restify = skip ? undefined : require('restify')

const COUNT = 5

for (const [name, create] of Object.entries({
  'attach()': attached,
  'wrap()': (spillway, handler) => http.createServer(spillway.wrap(handler)),
  'express()': (spillway, handler) => http.createServer(express().use(spillway.express()).use(handler)),
})) {
  test(`ticks and promises of one dequeued request run before the next, with ${name}`, async (t) => {
    const log = []
    const work = (req, res) => {
      log.push(`handler ${req.url}`)
      process.nextTick(() => log.push(`tick ${req.url}`))
      Promise.resolve().then(() => {
        log.push(`promise ${req.url}`)
        res.end()
      })
    }
    const shed = { ...QUEUE, maxConcurrent: COUNT }
    const { get, hold, waiting } = await holdingServer(t, { shed, create, work })
    const held = []
    for (let i = 0; i < COUNT; i++) held.push(await hold())
    const paths = Array.from({ length: COUNT }, (_, i) => `/${i}`)
    const answers = []
    for (const [i, path] of paths.entries()) {
      answers.push(get(path))
      await waiting(i + 1)
    }
    for (const { release } of held) release()
    await Promise.all([...answers, ...held.map(({ answer }) => answer)])
    assert.deepEqual(
      log,
      paths.flatMap((path) => [`handler ${path}`, `tick ${path}`, `promise ${path}`])
    )
  })
}

const LIMIT = 5
const CLIENTS = 8

/** A server that throttles itself, whose handlers answer when told. */
async function throttling(t, spillway, build) {
  const app = restify.createServer()
  build(spillway, app)
  const running = []
  app.pre(restify.plugins.inflightRequestThrottle({ server: app, limit: LIMIT }))
  app.get('/', (_req, res, next) => running.push(() => next(res.send(200))))
  const { get } = await serve(t, app.server)
  let throttled = 0
  /** @returns {Promise<number[]>} the statuses of so many at once */
  const askAll = () => {
    const statuses = Array.from({ length: CLIENTS }, async () => {
      const { status } = await get('/')
      if (status !== 200) throttled++
      return status
    })
    return Promise.all(statuses)
  }
  const finishAll = async () => {
    await until(() => running.length + throttled === CLIENTS)
    for (const finish of running) finish()
  }
  return { askAll, finishAll }
}

const served = (statuses) => statuses.filter((status) => status === 200).length
const BUILDS = {
  'plain restify': () => {},
  'attach()': (spillway, app) => spillway.attach(app.server),
  'pre(express())': (spillway, app) => app.pre(spillway.express()),
}

for (const [name, build] of Object.entries(BUILDS)) {
  test(`on an idle server restify's own throttle admits ${LIMIT} of ${CLIENTS} at once, with ${name}`, {
    skip,
  }, async (t) => {
    const { askAll, finishAll } = await throttling(t, spillwayFor(t), build)
    const statuses = askAll()
    await finishAll()
    assert.equal(served(await statuses), LIMIT)
  })
}

test("restify's own throttle sees the requests that attach() dequeues one by one", { skip }, async (t) => {
  const spillway = spillwayFor(t, { shed: { ...QUEUE, maxConcurrent: CLIENTS } })
  const { askAll, finishAll } = await throttling(t, spillway, BUILDS['attach()'])
  // The slots are held by another server of the same spillway.
  const held = []
  const other = await serve(
    t,
    spillway.wrap((_req, res) => held.push(res))
  )
  const holding = Array.from({ length: CLIENTS }, () => other.get('/'))
  await until(() => held.length === CLIENTS)
  const statuses = askAll()
  await until(() => spillway.snapshot().admission.queued === CLIENTS)
  for (const res of held) res.end()
  await finishAll()
  assert.equal(served(await statuses), LIMIT)
  await Promise.all(holding)
})
