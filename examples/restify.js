'use strict'
// The smallest Restify 11 server. Restify itself needs Node 20 or 22. Start it, open /users/7 a few times,
// then /metrics.

const restify = require('restify')
const { createSpillway } = require('spillway')

const spillway = createSpillway()
const server = restify.createServer()

// `pre`, not `use`: it runs before routing, so it also measures requests that match no route.
server.pre(spillway.express())

server.get('/users/:id', (req, res, next) => {
  res.send({ id: req.params.id })
  next()
})

server.listen(process.env.PORT || 3000, '127.0.0.1', () =>
  console.log(`Open http://127.0.0.1:${server.address().port}/metrics`)
)
