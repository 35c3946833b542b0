'use strict'
// An API beside files that a hundred clients read at about a megabyte a second each.

const { HttpLoad } = require('../load')
const { FILE_PATH, prepareFolder, readSlowly } = require('./files')
const streams = require('./streams')

const FILES_PER_SECOND = 40
const REQUESTS_PER_SECOND = 600
const REST_MS = 60

class Load {
  constructor(port) {
    this.api = new HttpLoad(port, { rate: REQUESTS_PER_SECOND, path: '/products' })
    this.files = new HttpLoad(port, { rate: FILES_PER_SECOND, path: FILE_PATH, read: readSlowly(REST_MS) })
    this.tally = this.api.tally
  }

  async start() {
    await Promise.all([this.api.start(), this.files.start()])
  }

  stop() {
    this.api.stop()
    this.files.stop()
  }
}

module.exports = {
  name: 'slow-readers',
  title: 'an API beside files to slow readers',
  unit: 'request',
  framework: 'express',
  prepare: prepareFolder,
  serve(app, folder) {
    const products = Array.from({ length: 50 }, (_, id) => ({ id, name: `product ${id}`, price: id * 100 }))
    app.get('/products', (_req, res) => res.json(products))
    streams.serve(app, folder)
  },
  load: (port) => new Load(port),
}
