'use strict'
// Files of 5 MB by express.static. Each client reads about 10 MB a second.

const { peer } = require('../../support/peers')
const { HttpLoad } = require('../load')
const { FILE_PATH, prepareFolder, readSlowly } = require('./files')

const RATE = 48
const REST_MS = 6

module.exports = {
  name: 'streams',
  title: 'files of 5 MB, express.static',
  unit: 'GB',
  framework: 'express',
  prepare: prepareFolder,
  serve(app, folder) {
    app.use('/files', peer('express').static(folder))
  },
  load: (port) => new HttpLoad(port, { rate: RATE, path: FILE_PATH, read: readSlowly(REST_MS) }),
}
