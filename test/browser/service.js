'use strict'
// The service that the page is looked at with: an Express application with quick, slow, failing and blocking
// routes, an outgoing call, and names that would do harm if the page took them for markup. It prints its
// addresses as one line of JSON.

const { pbkdf2Sync } = require('node:crypto')
const { once } = require('node:events')
const http = require('node:http')
const { setTimeout: wait } = require('node:timers/promises')
const express = require('express')
const { createSpillway } = require('../../src/index.js')

const HOSTILE = `<img src=x onerror="window.harmed = 'route'"><script>window.harmed = 'script'</script>`
const { TOKEN: token, VERSION: version = '1.4.0' } = process.env
class HostileError extends Error {
  name = HOSTILE
}

function grindCoffee(ms) {
  const until = performance.now() + ms
  let sum = 0
  while (performance.now() < until) for (let i = 0; i < 1e4; i++) sum += Math.sqrt(i)
  return sum
}

const kept = []
function keepSession() {
  const sessions = []
  for (let i = 0; i < 2000; i++) sessions.push({ session: i, user: `user ${i}` })
  kept.push(sessions)
}

async function main() {
  const upstream = http.createServer((_req, res) => wait(8).then(() => res.end('{}')))
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const { port: upstreamPort } = /** @type {import('node:net').AddressInfo} */ (upstream.address())

  const spillway = createSpillway({
    logger: false,
    routes: { label: (_req, _res, template) => (template === '/hostile' ? `/${HOSTILE}` : template) },
    release: { version },
  })
  let isBroken = false
  const app = express()
  app.use(spillway.express())
  app.get('/users/:id', (req, res) => res.json({ id: req.params.id }))
  app.get('/reports/:id', async (_req, res) => {
    await wait(30)
    res.json({})
  })
  app.get('/prices', async (_req, res) => {
    await (await fetch(`http://127.0.0.1:${upstreamPort}/`)).text()
    res.json({})
  })
  app.get('/orders/:id', (_req, res) => {
    if (isBroken) throw new TypeError('the order has no customer')
    res.json({})
  })
  app.get('/login', function login(_req, res) {
    pbkdf2Sync('secret', 'salt', 400_000, 64, 'sha512')
    res.json({})
  })
  app.get('/coffee', function brew(_req, res) {
    grindCoffee(20)
    res.json({})
  })
  // Slowly: the heap must last for the whole test.
  app.get('/keep', async (_req, res) => {
    keepSession()
    await wait(5)
    res.json({})
  })
  app.get('/hostile', () => {
    throw new HostileError(HOSTILE)
  })
  app.get('/break', (_req, res) => {
    isBroken = true
    res.end()
  })
  app.use(spillway.errorHandler())
  process.emitWarning(HOSTILE, 'HostileWarning')

  const server = app.listen(0, '127.0.0.1')
  spillway.attach(server)
  await once(server, 'listening')
  const port = Number(process.env.ADMIN_PORT ?? 0)
  const admin = await spillway.listen({
    port,
    maxRequestsPerSecond: 200,
    ...(token !== undefined && { token }),
  })
  const { port: appPort } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(JSON.stringify({ url: `http://127.0.0.1:${appPort}`, admin: admin.url }))
  // Without this, nothing keeps a process whose parent has died.
  process.on('disconnect', () => process.exit())
}

main()
