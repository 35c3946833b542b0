'use strict'
// The smallest HTTP/2 server, without TLS (h2c). Browsers do not support h2c:
// curl --http2-prior-knowledge http://127.0.0.1:3000/metrics

const http2 = require('node:http2')
const { createSpillway } = require('spillway')

// There is no router here, so name the routes yourself. If you return undefined, the route is '(unmatched)'.
const label = (req) => (req.url.startsWith('/users/') ? '/users/:id' : undefined)

const spillway = createSpillway({ routes: { label } })

const server = http2.createServer((req, res) => {
  res.setHeader('Content-Type', 'application/json')
  res.end(JSON.stringify({ path: req.url }))
})

// Works with any http, https or http2 server: spillway measures each request before your listeners run.
spillway.attach(server)

server.listen(process.env.PORT || 3000, '127.0.0.1')
server.once('listening', () => console.log(`Open http://127.0.0.1:${server.address().port}/metrics`))
