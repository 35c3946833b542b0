'use strict'
// node server.js <options as JSON>: the service that bench/healthy loads, with Express or Koa. A route waits
// and burns as its query says. A burn is a fixed amount of work, calibrated once for a bench (BURN_PER_MS).
// Each kind of client has its own route, because the gate keeps estimates for each route.

const fs = require('node:fs')
const { pipeline } = require('node:stream')
const { setTimeout: delay } = require('node:timers/promises')
const express = require('express')
const Koa = require('koa')
const Router = require('@koa/router')
const { burnIterations, calibrate } = require('../support/burn')
const { createServer } = require('../support/kinds')
const { host, spillwayOf } = require('./host')
const { createPool } = require('./pool')

/** @type {{ mode: string, framework: string, secure?: boolean, pool?: { size: number, url?: string } }} */
const { mode, framework, secure = false, pool } = JSON.parse(process.argv[2])

const WORKS = ['/db', '/wait', '/poll', '/fast', '/llm', '/upstream', '/burst', '/cpu', '/await', '/reward']
const EVENT_EVERY_MS = 1000
const FILE_BYTES = 5_000_000
const perMs = Number(process.env.BURN_PER_MS ?? calibrate())
const database = pool === undefined ? undefined : createPool(pool)

async function work(query) {
  const waitMs = Number(query.wait ?? 0)
  const burnMs = Number(query.burn ?? 0)
  if (waitMs > 0) await delay(waitMs)
  if (burnMs > 0) burnIterations(burnMs * perMs)
  return { ok: true }
}

async function read(req) {
  const chunks = []
  for await (const chunk of req) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Never answers a malformed body, as an Express 4 app does whose async handler rejects. */
async function save(req) {
  const body = JSON.parse(String(await read(req)))
  await delay(5)
  if (body.items === undefined) await new Promise(() => {})
  return { total: body.items.reduce((sum, { count }) => sum + count, 0) }
}

async function upload(req) {
  try {
    return { bytes: (await read(req)).length }
  } catch {
    // The client disconnected, so nobody reads the answer.
    return { bytes: 0 }
  }
}

function stream(res) {
  res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
  res.write(': hello\n\n')
  const timer = setInterval(() => res.write(`data: ${Date.now()}\n\n`), EVENT_EVERY_MS)
  res.on('close', () => clearInterval(timer))
}

/** Sends the first 5 MB of the Node binary, as a static server would. */
function sendFile(res) {
  res.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': FILE_BYTES })
  pipeline(fs.createReadStream(process.execPath, { end: FILE_BYTES - 1 }), res, () => {})
}

function expressApp() {
  const app = express()
  const answer = (handle) => (req, res) => handle(req).then((value) => res.json(value))
  app.get('/hello', (_req, res) => res.send('hello world'))
  for (const path of WORKS)
    app.get(
      path,
      answer(({ query }) => work(query))
    )
  app.get('/stream', (_req, res) => stream(res))
  app.get('/file', (_req, res) => sendFile(res))
  app.get(
    '/pool',
    answer(() => database.query())
  )
  app.post('/save', answer(save))
  app.post('/upload', answer(upload))
  return app
}

function koaApp() {
  const router = new Router()
  const answer = (handle) => async (ctx) => {
    ctx.body = await handle(ctx)
  }
  router.get('/hello', (ctx) => {
    ctx.body = 'hello world'
  })
  for (const path of WORKS)
    router.get(
      path,
      answer(({ query }) => work(query))
    )
  for (const [path, send] of Object.entries({ '/stream': stream, '/file': sendFile }))
    router.get(path, (ctx) => {
      ctx.respond = false
      send(ctx.res)
    })
  router.get(
    '/pool',
    answer(() => database.query())
  )
  router.post(
    '/save',
    answer(({ req }) => save(req))
  )
  router.post(
    '/upload',
    answer(({ req }) => upload(req))
  )
  const app = new Koa().use(router.routes())
  // Koa would print an error for each stream whose client disconnects.
  app.silent = true
  return app.callback()
}

function main() {
  const server = createServer(secure ? 'https' : 'plain')
  server.on('request', framework === 'koa' ? koaApp() : expressApp())
  const spillway = spillwayOf(mode)
  spillway.attach(server)
  host(server, spillway)
}

main()
