'use strict'
// HTTP/2 without TLS (h2c), which browsers do not speak: curl --http2-prior-knowledge http://127.0.0.1:3000/metrics

const http2 = require('node:http2')
const { createSpillway } = require('spillway')

// No router knows the routes here, so name them yourself; what you leave undefined is counted as '(unmatched)'.
const label = (req) => (req.url.startsWith('/users/') ? '/users/:id' : undefined)

const spillway = createSpillway({ routes: { label } })

const server = http2.createServer((req, res) => {
  res.setHeader('Content-Type', 'application/json')
  res.end(JSON.stringify({ path: req.url }))
})

// Any http, https or http2 server: each request is measured before your listeners see it.
spillway.attach(server)

server.listen(process.env.PORT || 3000, '127.0.0.1')
server.once('listening', () => console.log(`Open http://127.0.0.1:${server.address().port}/metrics`))
