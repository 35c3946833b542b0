'use strict'
// A game server on Express 4: POST /save keeps a player's game, GET /rewards/:player is quick.
//
//   node app.js            a save without `items` throws in an async handler, and nobody catches it
//   node app.js --fixed    Spillway catches it, answers, counts and logs it, and the handler lets go of what it holds

const { setTimeout: delay } = require('node:timers/promises')
const express = require('express-4')
const { createSpillway } = require('spillway')

const isFixed = process.argv.includes('--fixed')

// In `observe` Spillway only measures: nothing is rejected, so that before and after do the same work.
const spillway = createSpillway({ shed: { mode: 'observe' } })
// Express 4 does not see promises.
if (isFixed) spillway.catchAsync(express)

const app = express()
app.use(spillway.express())
app.use(express.json({ limit: '1mb' }))

/** Saves that are being written, by player: a second save of the same player waits for the first. */
const saving = new Map()

async function write(game) {
  await delay(5) // the database
  return game.items.reduce((sum, { count }) => sum + count, 0)
}

app.post('/save/:player', async (req, res) => {
  saving.set(req.params.player, req.body)
  try {
    const items = await write(req.body)
    if (!isFixed) saving.delete(req.params.player)
    res.json({ items })
  } finally {
    if (isFixed) saving.delete(req.params.player)
  }
})

app.get('/rewards/:player', async (req, res) => {
  await delay(3)
  res.json({ player: req.params.player, rewards: [] })
})

if (isFixed) app.use(spillway.errorHandler())

const server = app.listen(process.env.PORT ?? 3000, '127.0.0.1', () =>
  console.log(`Serving http://127.0.0.1:${server.address().port}/rewards/ada`)
)
spillway.attach(server, { signals: true })
spillway
  .listen({ port: Number(process.env.ADMIN_PORT ?? 9464) })
  .then(({ url }) => console.log(`Admin server at ${url}`))
