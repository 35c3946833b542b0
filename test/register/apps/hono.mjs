import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { endWithStdin } from './end-with-stdin.js'

const app = new Hono()
app.get('/users/:id', (c) => c.json({ id: c.req.param('id') }))
endWithStdin(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }))
