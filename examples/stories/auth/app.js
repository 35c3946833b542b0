'use strict'
// The accounts of a shop, on Postgres: sign-up, log-in, profile, update. The releases that the team deployed
// one after the other:
//
//   DATABASE_URL=postgres://... node app.js --release 1.0.0   a pool of 5 connections
//   DATABASE_URL=postgres://... node app.js --release 1.1.0   a pool of 50
//   DATABASE_URL=postgres://... node app.js --release 1.2.0   asks for the columns that it shows, and logs no line for each request

const { parseArgs } = require('node:util')
const express = require('express')
const morgan = require('morgan')
const { Pool } = require('pg')
const { createSpillway } = require('spillway')
const { Accounts, createTables } = require('./accounts')

const { release } = parseArgs({ options: { release: { type: 'string', default: '1.0.0' } } }).values
const RELEASES = {
  '1.0.0': { connections: 5, isLean: false },
  '1.1.0': { connections: 50, isLean: false },
  '1.2.0': { connections: 50, isLean: true },
}
const { connections, isLean } = RELEASES[release]

const spillway = createSpillway({
  // In `observe` Spillway only measures: nothing is rejected.
  shed: { mode: process.env.SHED === 'adaptive' ? 'adaptive' : 'observe' },
  release: { version: release, ...(process.env.RELEASES && { file: process.env.RELEASES }) },
})
const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: connections })
pool.on('error', (error) => console.error(`The database: ${error.message}`))
spillway.pool('db', pool)

const accounts = new Accounts(pool, { isLean })
const app = express()
app.use(spillway.express())
if (!isLean) app.use(morgan('combined'))
app.use(express.json())

app.post('/sign-up', async (req, res) => {
  const account = await accounts.add(req.body)
  if (account === undefined) return res.status(409).json({ error: 'This address has an account' })
  res.status(201).json({ id: account.id })
})

app.post('/log-in', async (req, res) => {
  const token = await accounts.logIn(req.body)
  if (token === undefined) return res.status(401).json({ error: 'Unknown address or password' })
  res.json({ token })
})

/** Who asks, by the token of the log-in. */
async function authenticate(req, res, next) {
  const [, token] = /^Bearer (\w+)$/.exec(req.headers.authorization ?? '') ?? []
  const id = token && (await accounts.idOf(token))
  if (!id) return res.status(401).json({ error: 'Log in first' })
  res.locals.id = id
  next()
}

app.get('/profile', authenticate, async (_req, res) => {
  res.json(await accounts.profileOf(res.locals.id))
})

app.patch('/profile', authenticate, async (req, res) => {
  await accounts.rename(res.locals.id, req.body.name)
  res.status(204).end()
})

app.use(spillway.errorHandler())

async function main() {
  await createTables(pool)
  const server = app.listen(process.env.PORT ?? 3000, '127.0.0.1', () =>
    console.log(`Serving http://127.0.0.1:${server.address().port}/profile`)
  )
  spillway.attach(server, { signals: true })
  const { url } = await spillway.listen({ port: Number(process.env.ADMIN_PORT ?? 9464) })
  console.log(`Admin server at ${url}`)
}

main()
