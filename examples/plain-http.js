'use strict'
// The smallest server without a framework. Start it, open /users/7 a few times, then /metrics.

const http = require('node:http')
const { createSpillway } = require('spillway')

// There is no router here, so name the routes yourself. If you return undefined, the route is '(unmatched)'.
// Never return the URL itself: each user would create a new series.
const label = (req) => (req.url.startsWith('/users/') ? '/users/:id' : undefined)

const spillway = createSpillway({ routes: { label } })

function listener(req, res) {
  res.setHeader('Content-Type', 'application/json')
  res.end(JSON.stringify({ path: req.url }))
}

// `wrap` measures the listener, and answers /metrics, /livez and /readyz itself.
const server = http.createServer(spillway.wrap(listener))

server.listen(process.env.PORT || 3000, '127.0.0.1')
server.once('listening', () => console.log(`Open http://127.0.0.1:${server.address().port}/metrics`))
