'use strict'
// node server.js <framework> <variant>: a server whose /fails/:id throws and whose /hello does not, with the
// framework's own answer to errors or with ours. It answers a message with its CPU time.

const http = require('node:http')
const { createSpillway } = require('../../src/index.js')

const [framework, variant] = process.argv.slice(2)

function listenerOf() {
  const isOurs = variant.startsWith('spillway')
  const spillway = isOurs
    ? createSpillway(variant.endsWith('errors: false') ? { errors: false } : {})
    : undefined
  // The log of Express's own answer, but for making the stack.
  if (variant === 'own, silent') console.error = () => {}
  return framework === 'koa' ? koaListener(spillway) : expressListener(spillway)
}

function expressListener(spillway) {
  const express = require(framework)
  const app = express()
  if (spillway !== undefined) app.use(spillway.express())
  app.get('/fails/:id', () => {
    throw new Error('as it should')
  })
  app.get('/hello', (_req, res) => res.json({ hello: 'world' }))
  if (variant === 'spillway') app.use(spillway.errorHandler())
  return app
}

function koaListener(spillway) {
  const app = new (require('koa'))()
  app.silent = variant.endsWith('silent')
  if (spillway !== undefined) app.use(spillway.koa())
  app.use((ctx) => {
    if (ctx.path !== '/hello') throw new Error('as it should')
    ctx.body = { hello: 'world' }
  })
  return app.callback()
}

const server = http.createServer(listenerOf())
// The load keeps its connections open between slices.
server.keepAliveTimeout = 0
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send({ microseconds: user + system })
})
process.on('disconnect', () => process.exit())
