'use strict'
// Requests injected in process, without a server or a socket: they end by on-finished. A file of its own,
// since light-my-request changes the prototypes of the copy of Express it is given.

const { test } = require('node:test')
const express = require('express')
const Koa = require('koa')
const inject = require('light-my-request')
const { expectMeasured } = require('../support/drive')
const { readableSpillway } = require('../support/measured')

const never = () => {}
const completed = { outcomes: { completed: 1 }, statuses: { 200: 1 }, firstBytes: 1 }
const errored = (status, firstBytes) => ({ outcomes: { errored: 1 }, statuses: { [status]: 1 }, firstBytes })

const INJECTED = [
  ['an answer', (_req, res) => res.end('ok'), completed],
  [
    'an answer in pieces',
    (_req, res) => {
      res.write('a')
      setImmediate(() => res.end('b'))
    },
    completed,
  ],
  ['a 500', (_req, res) => res.writeHead(500).end('no'), errored(500, 1)],
  ['res.destroy()', (_req, res) => res.destroy(), errored('', 0)],
  ['res.destroy(error)', (_req, res) => res.destroy(new Error('no')), errored('', 0)],
  [
    'res.destroy(), and a head after it',
    (_req, res) => {
      res.on('close', () => setImmediate(() => res.writeHead(200)))
      res.destroy()
    },
    errored('', 0),
  ],
  [
    'res.destroy() amid the body',
    (_req, res) => {
      res.write('a')
      setImmediate(() => res.destroy())
    },
    errored(200, 1),
  ],
]

const APPS = {
  'plain http': (spillway, answer) => {
    const measure = spillway.express()
    return (req, res) => measure(req, res, () => answer(req, res))
  },
  'a wrapped listener': (spillway, answer) => spillway.wrap(answer),
  'Express 5': (spillway, answer) => express().use(spillway.express()).use(answer),
  'Koa 3': (spillway, answer) => {
    const app = new Koa()
    app.silent = true
    app.use(spillway.koa())
    app.use((ctx) => {
      ctx.respond = false
      ctx.status = 200
      answer(ctx.req, ctx.res)
    })
    return app.callback()
  },
}

for (const [name, appOf] of Object.entries(APPS)) {
  for (const [ending, answer, expected] of INJECTED) {
    test(`injected into ${name}: ${ending}`, async (t) => {
      const { spillway, measured } = readableSpillway(t)
      await inject(appOf(spillway, answer), '/a').catch(never)
      await expectMeasured(measured, expected)
    })
  }
}

for (const [ending, before, expected] of [
  ['already finished', (res) => res.end('ok'), completed],
  ['already destroyed', (res) => res.destroy(), errored('', 0)],
]) {
  test(`injected: a response ${ending} before it came to the spillway`, async (t) => {
    const { spillway, measured } = readableSpillway(t)
    const measure = spillway.express()
    const listener = (req, res) => {
      before(res)
      setImmediate(() => measure(req, res, never))
    }
    await inject(listener, '/a').catch(never)
    await expectMeasured(measured, expected)
  })
}
