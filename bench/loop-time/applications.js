'use strict'
// Six applications that work in ways of which a clock around the handler knows little: before it, after an
// await, between several, in callbacks of others. A function's name begins with `of_<route>_`, by which a CPU
// profile knows whom it worked for; `files` says whom the functions of a package work for.

const { peer } = require('../support/peers')
const { burnIterations, calibrate } = require('../support/burn')

const SPEED = calibrate()
/** Some requests take three times as long as others. */
const burn = (ms) => burnIterations(Math.round(SPEED * ms * (0.5 + Math.random())))
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

const BODY = JSON.stringify({
  items: Array.from({ length: 6000 }, (_, id) => ({ id, sku: `sku-${id}`, n: id % 7 })),
})

function bodies({ app, express }) {
  app.use(express.json({ limit: '2mb' }))
  app.post('/import', function of_import_handler(req, res) {
    burn(3)
    res.json({ count: req.body.items.length })
  })
  app.get('/items', function of_items_handler(_req, res) {
    burn(6)
    res.json({ ok: true })
  })
  return {
    mix: [
      ['POST', '/import', BODY],
      ['GET', '/items'],
    ],
    files: { import: /body-parser|raw-body|iconv-lite/ },
  }
}

function calls({ app, upstream }) {
  app.get('/basket', async function of_basket_handler(_req, res) {
    burn(3)
    await (await fetch(upstream)).text()
    of_basket_price()
    await (await fetch(upstream)).text()
    of_basket_price()
    res.json({ ok: true })
  })
  function of_basket_price() {
    burn(6)
  }
  app.get('/ping', async function of_ping_handler(_req, res) {
    await (await fetch(upstream)).text()
    burn(3)
    res.json({ ok: true })
  })
  return {
    mix: [
      ['GET', '/basket'],
      ['GET', '/ping'],
    ],
  }
}

function pools({ app, spillway }) {
  const { Pool } = peer('pg')
  // A client that answers after a while: the pool, its queue and its events are those of pg.
  const Client = require('./client')
  const pool = new Pool({ max: 10, Client })
  spillway.pool('pg', pool)
  app.get('/report', async function of_report_handler(_req, res) {
    for (let i = 0; i < 3; i++) {
      await pool.query('select 1')
      of_report_add()
    }
    res.json({ ok: true })
  })
  function of_report_add() {
    burn(4.5)
  }
  app.get('/row', async function of_row_handler(_req, res) {
    await pool.query('select 1')
    burn(3)
    res.json({ ok: true })
  })
  return {
    mix: [
      ['GET', '/report'],
      ['GET', '/row'],
    ],
  }
}

function timers({ app }) {
  app.get('/steps', async function of_steps_handler(_req, res) {
    for (let i = 0; i < 4; i++) {
      await later(5)
      burn(3)
    }
    res.json({ ok: true })
  })
  app.get('/late', function of_late_handler(_req, res) {
    setTimeout(function of_late_timer() {
      burn(9)
      res.json({ ok: true })
    }, 10)
  })
  return {
    mix: [
      ['GET', '/steps'],
      ['GET', '/late'],
    ],
  }
}

function pages({ app, upstream }) {
  const path = require('node:path')
  app.engine('ejs', peer('ejs').renderFile)
  app.set('views', path.join(__dirname, '..', 'services', 'kinds', 'views'))
  app.set('view engine', 'ejs')
  const orders = Array.from({ length: 2000 }, (_, id) => ({ id, customer: `customer ${id}`, total: id * 3 }))
  app.get('/orders', async function of_orders_handler(_req, res) {
    await (await fetch(upstream)).text()
    res.render('orders', { title: 'Orders', orders })
  })
  app.get('/about', function of_about_handler(_req, res) {
    burn(3)
    res.end('about')
  })
  return {
    mix: [
      ['GET', '/orders'],
      ['GET', '/about'],
    ],
    // Express sends a page after a tick.
    files: { orders: /express.lib.response|etag/ },
  }
}

function graphql({ app }) {
  const { createHandler } = peer('graphql-http/lib/use/express')
  const schema = peer('graphql').buildSchema(`
    type Author { id: ID! name: String! }
    type Post { id: ID! title: String! author: Author! }
    type Query { posts(first: Int!): [Post!]! }
  `)
  const postOf = (id) => ({
    id,
    title: `post ${id}`,
    author: async function of_graphql_author() {
      await later(2)
      burn(0.15)
      return { id, name: `author ${id}` }
    },
  })
  const rootValue = { posts: async ({ first }) => Array.from({ length: first }, (_, id) => postOf(id)) }
  app.all('/graphql', createHandler({ schema, rootValue }))
  app.get('/health', function of_health_handler(_req, res) {
    burn(1.5)
    res.json({ ok: true })
  })
  const body = JSON.stringify({ query: '{ posts(first: 60) { id title author { id name } } }' })
  return {
    mix: [
      ['POST', '/graphql', body],
      ['GET', '/health'],
    ],
    files: { graphql: /node_modules\/graphql/ },
  }
}

module.exports = { bodies, calls, pools, timers, pages, graphql }
