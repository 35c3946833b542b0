'use strict'
// Pages by ejs: a table of a hundred rows.

const path = require('node:path')
const { peer } = require('../../support/peers')
const { HttpLoad } = require('../load')

const RATE = 900

module.exports = {
  name: 'rendering',
  title: 'rendered pages, ejs',
  unit: 'page',
  framework: 'express',
  serve(app) {
    app.engine('ejs', peer('ejs').renderFile)
    app.set('views', path.join(__dirname, 'views'))
    app.set('view engine', 'ejs')
    const orders = Array.from({ length: 100 }, (_, id) => ({ id, customer: `customer ${id}`, total: id * 3 }))
    app.get('/orders', (_req, res) => res.render('orders', { title: 'Orders', orders }))
  },
  load: (port) => new HttpLoad(port, { rate: RATE, path: '/orders' }),
}
