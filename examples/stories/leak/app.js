'use strict'
// A service with one worker that renders pages and keeps each of them, by URL, for ever.
//
//   node app.js              runs until the heap is full
//   node app.js --recycle    Spillway replaces the worker in time: the new one first, then the old one drains
//
// The leak is in both: recycling buys the time in which it is found.

const cluster = require('node:cluster')
const { setTimeout: delay } = require('node:timers/promises')
const express = require('express')
const { clusterPrimary, createSpillway } = require('spillway')

const isRecycled = process.argv.includes('--recycle')

/**
 * As in a container of a story that is told in a minute. By default a process is watched for 30 s, and left
 * alone for a minute.
 */
const RECYCLING = { recycleAt: 0.6, recycleAfter: 1000, minUptime: 5000 }

const ROWS = 190

function serve() {
  // In `observe` nothing is rejected. In mode `adaptive`, which is the default, a heap that is nearly full
  // rejects requests.
  const spillway = createSpillway({ shed: { mode: 'observe' }, memory: isRecycled ? RECYCLING : {} })
  const app = express()
  app.use(spillway.express())

  const rendered = new Map()
  function render(url) {
    const rows = []
    for (let row = 0; row < ROWS; row++) rows.push({ url, row, text: `row ${row} of ${url}` })
    rendered.set(url, rows)
    return rows
  }

  app.get('/pages/:page', async function showPage(req, res) {
    await delay(2) // the database
    const rows = rendered.get(req.url) ?? render(req.url)
    res.json(rows.slice(0, 10))
  })

  app.use(spillway.errorHandler())
  const server = app.listen(process.env.PORT ?? 3000, '127.0.0.1', () =>
    console.log(`Serving http://127.0.0.1:${server.address().port}/pages/1`)
  )
  spillway.attach(server, { signals: true })
  spillway
    .listen({ port: Number(process.env.ADMIN_PORT ?? 9464) })
    .then(({ url }) => console.log(`Admin server at ${url}`))
}

if (cluster.isPrimary) clusterPrimary({ workers: 1 })
else serve()
