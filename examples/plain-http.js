'use strict'
// No framework. Start it, open /users/7 a few times, then /metrics.

const http = require('node:http')
const { createSpillway } = require('spillway')

// No router knows the routes here, so name them yourself. What you leave undefined is counted as '(unmatched)':
// never return the URL itself, which would make a new series for every user.
const label = (req) => (req.url.startsWith('/users/') ? '/users/:id' : undefined)

const spillway = createSpillway({ routes: { label } })

function listener(req, res) {
  res.setHeader('Content-Type', 'application/json')
  res.end(JSON.stringify({ path: req.url }))
}

// `wrap` measures the listener, and answers /metrics, /livez and /readyz before it.
const server = http.createServer(spillway.wrap(listener))

server.listen(process.env.PORT || 3000, '127.0.0.1')
server.once('listening', () => console.log(`Open http://127.0.0.1:${server.address().port}/metrics`))
