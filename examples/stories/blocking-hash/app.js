'use strict'
// A shop: GET /products, and POST /login, which checks a password.
//
//   node app.js            hashes with pbkdf2Sync: the event loop stands still until the hash is done
//   node app.js --fixed    hashes with pbkdf2: the thread pool of Node does it

const { pbkdf2, pbkdf2Sync, timingSafeEqual } = require('node:crypto')
const { promisify } = require('node:util')
const express = require('express')
const { createSpillway } = require('spillway')

const isFixed = process.argv.includes('--fixed')
const ITERATIONS = 210_000 // what OWASP asks for with SHA-512

// In `observe` Spillway only measures: nothing is rejected, so that before and after do the same work.
const spillway = createSpillway({ shed: { mode: 'observe' } })
const app = express()
app.use(spillway.express())
app.use(express.json())

const users = new Map([
  ['ada', { salt: 'NaCl', hash: pbkdf2Sync('lovelace', 'NaCl', ITERATIONS, 64, 'sha512') }],
])

function hashPassword(password, salt) {
  return pbkdf2Sync(password, salt, ITERATIONS, 64, 'sha512')
}

function hashPasswordInThreadPool(password, salt) {
  return promisify(pbkdf2)(password, salt, ITERATIONS, 64, 'sha512')
}

app.post('/login', async (req, res) => {
  const user = users.get(req.body.name)
  if (user === undefined) return res.status(401).json({ error: 'Unknown name or password' })
  const hash = isFixed
    ? await hashPasswordInThreadPool(req.body.password, user.salt)
    : hashPassword(req.body.password, user.salt)
  if (!timingSafeEqual(hash, user.hash)) return res.status(401).json({ error: 'Unknown name or password' })
  res.json({ token: hash.toString('hex', 0, 16) })
})

app.get('/products', (_req, res) => {
  res.json([{ id: 1, name: 'kettle' }])
})

app.use(spillway.errorHandler())

const server = app.listen(process.env.PORT ?? 3000, '127.0.0.1', () =>
  console.log(`Serving http://127.0.0.1:${server.address().port}/products`)
)
spillway.attach(server, { signals: true })
spillway
  .listen({ port: Number(process.env.ADMIN_PORT ?? 9464) })
  .then(({ url }) => console.log(`Admin server at ${url}`))
