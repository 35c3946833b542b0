'use strict'
// An application that uses spillway itself: before it listens, or later with LATE=1.
const http = require('node:http')
const { endWithStdin } = require('./end-with-stdin')

const make = () => require('spillway').createSpillway({ logger: false })
const early = process.env.LATE === undefined ? make() : undefined
const server = http.createServer((_req, res) => res.end('own'))
server.listen(0, '127.0.0.1', () => {
  ;(early ?? make()).attach(server)
  endWithStdin(server)
})
