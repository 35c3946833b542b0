'use strict'
// An Express application, of the package whose name is given.
const express = require(process.argv[2])
const { endWithStdin } = require('./end-with-stdin')

const app = express()
const users = express.Router()
users.get('/:id', (req, res) => res.json({ id: req.params.id }))
app.use('/users', users)
app.get('/fails', () => {
  throw new Error('as intended')
})
endWithStdin(app.listen(0, '127.0.0.1'))
