'use strict'
// What PM2 runs in pm2.e2e.js: an application that knows nothing of a fleet.

const http = require('node:http')
const { createSpillway } = require('../../src/index.js')

const spillway = createSpillway()
const listener = spillway.wrap((_req, res) => {
  res.setHeader('Connection', 'close')
  res.end(String(process.pid))
})
http.createServer(listener).listen(Number(process.env.PORT), '127.0.0.1')
