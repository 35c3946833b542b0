'use strict'
const http = require('node:http')
const { endWithStdin } = require('./end-with-stdin')

const server = http.createServer((req, res) => res.end(`answer to ${req.url}`))
endWithStdin(server.listen(0, '127.0.0.1'), { exitCode: 3 })
