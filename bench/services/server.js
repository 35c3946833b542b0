'use strict'
// node server.js <options as JSON>: a service with a variant. It answers a message with its CPU time, or with
// how many requests the variant has seen.

const { foreignMs } = require('../support/foreign')
const { peer } = require('../support/peers')
const { SERVICES } = require('./services')
const { startVariant } = require('./variants')

const { service: name, variant: chosen, given } = JSON.parse(process.argv[2])

const answers = (variant) => ({
  cpu() {
    const { user, system } = process.cpuUsage()
    return {
      cpuMs: (user + system) / 1000,
      atMs: performance.now(),
      foreignMs: foreignMs(process.env.SERVER_CORE),
    }
  },
  seen: async () => ({ seen: await variant.seen() }),
})

async function main() {
  const service = SERVICES[name]
  // First, because OpenTelemetry instruments only what is loaded after it.
  const variant = startVariant(service.framework, chosen)
  const isKoa = service.framework === 'koa'
  const app = isKoa ? new (peer('koa'))() : peer('express')()
  variant.first?.(app)
  const attachTo = await service.serve(app, given)
  variant.last?.(app)
  const server = require('node:http').createServer(isKoa ? app.callback() : app)
  // The load keeps its connections open.
  server.keepAliveTimeout = 0
  const io = attachTo?.(server)
  variant.attach?.(server)
  if (io !== undefined) variant.sockets?.(io)
  const answer = answers(variant)
  process.on('message', async (/** @type {'cpu' | 'seen'} */ question) =>
    process.send?.(await answer[question]())
  )
  process.on('disconnect', () => process.exit())
  server.listen(0, '127.0.0.1', () => process.send?.({ port: /** @type {any} */ (server.address()).port }))
}

main()
