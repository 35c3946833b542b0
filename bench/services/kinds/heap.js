'use strict'
// An API with 300 MB of live objects, which each major garbage collection has to mark.

const { peer } = require('../../support/peers')
const { HttpLoad } = require('../load')
const { fillHeap } = require('./live-heap')

const RATE = 2200
const BYTES = 300e6

module.exports = {
  name: 'heap',
  title: 'JSON API with a heap of 300 MB',
  unit: 'request',
  framework: 'express',
  serve(app) {
    const blocks = fillHeap(BYTES)
    let next = 0
    app.post('/search', peer('express').json(), (req, res) => {
      const block = blocks[next++ % blocks.length]
      const found = block.slice(0, req.body.first).map((item) => ({ ...item, name: item.name.toUpperCase() }))
      res.json({ query: req.body.query, found })
    })
  },
  load: (port) =>
    new HttpLoad(port, {
      rate: RATE,
      path: '/search',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'a product', first: 30 }),
    }),
}
