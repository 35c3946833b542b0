'use strict'
// A server whose handlers fail where nobody catches it, run in a process of its own. Says its port, then each
// error it logs and each that a listener of the user's hears, as a line of JSON. Arguments: the option
// errors.uncaught, and the events the user listens for.

const { writeSync } = require('node:fs')
const express = require('express')
const { createSpillway } = require('../../src/index.js')

const [uncaught, ...heard] = process.argv.slice(2)
const say = (what) => writeSync(1, `${JSON.stringify(what)}\n`)
const logger = {
  warn() {},
  error: ({ event, err, req, route, status }) =>
    say({ event, message: err.message, url: req?.url, route, status }),
}
const spillway = createSpillway({
  logger,
  drain: { timeout: 1000 },
  errors: { uncaught: /** @type {any} */ (uncaught) },
})

for (const event of heard) process.on(event, ({ message }) => say({ heard: event, message }))

let finishSlow = () => {}
const failing = (fail) => (_req, _res) => void setTimeout(fail, 1)
const app = express()
app.get(
  '/throw/:id',
  failing(() => {
    throw new Error('thrown')
  })
)
app.get('/reject/:id', (_req, _res) => {
  Promise.reject(new Error('rejected'))
})
app.get('/half/:id', (_req, res) => {
  res.write('half')
  setTimeout(() => {
    throw new Error('thrown')
  }, 1)
})
app.get('/later/:id', (_req, res) => {
  res.once('close', () => setTimeout(() => Promise.reject(new Error('later')), 1))
  res.send('answered')
})
app.get('/slow', (_req, res) => {
  finishSlow = () => res.send('whole')
  say({ slow: true })
})
app.get('/deaf', (_req, res) => {
  for (const event of heard) process.removeAllListeners(event)
  res.send('deaf')
})
app.get('/exit/:code', (req, _res) => {
  process.on('exit', (code) => {
    say({ exit: code })
    throw new Error('flush failed')
  })
  // Not in the handler: Express would catch what the listener throws.
  setTimeout(() => process.exit(Number(req.params.code)), 1)
})
app.get('/counts', (_req, res) => res.json(spillway.snapshot().processErrors))

spillway.on('draining', () => finishSlow())
const server = app.listen(0, '127.0.0.1', () => say({ port: /** @type {any} */ (server.address()).port }))
spillway.attach(server)
