import { createServer } from 'node:http'
import express from 'express'
import { endWithStdin } from './end-with-stdin.js'

const app = express()
app.get('/users/:id', (req, res) => res.json({ id: req.params.id }))
endWithStdin(createServer((req, res) => app(req, res)).listen(0, '127.0.0.1'))
