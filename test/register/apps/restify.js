'use strict'
const restify = require('restify')
const { endWithStdin } = require('./end-with-stdin')

const app = restify.createServer()
app.get('/users/:id', (req, res, next) => {
  res.send({ id: req.params.id })
  next()
})
app.listen(0, '127.0.0.1')
endWithStdin(app.server)
