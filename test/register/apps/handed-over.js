'use strict'
// The http server never listens: another server hands it its connections, as with sticky sessions.
const http = require('node:http')
const net = require('node:net')
const { endWithStdin } = require('./end-with-stdin')

const inner = http.createServer((req, res) => {
  res.setHeader('connection', 'close')
  res.end(`answer to ${req.url}`)
})
const server = net.createServer((socket) => inner.emit('connection', socket))
endWithStdin(/** @type {any} */ (server.listen(0, '127.0.0.1')))
