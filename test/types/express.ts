// As a strict TypeScript user of Express 5, with its types installed.

import http from 'node:http'
import { expectTypeOf } from 'expect-type'
import express, { type Request } from 'express'
import { createSpillway } from 'spillway'

const spillway = createSpillway()
const app = express()

app.use(spillway.express())
app.use('/api', spillway.express())
express.Router().use(spillway.express())
app.get('/admin/metrics', spillway.handler('metrics'))
app.use(spillway.errorHandler())
app.use('/api', spillway.errorHandler())
expectTypeOf(spillway.catchAsync(express)).toEqualTypeOf<typeof express>()

const server = app.listen(3000)
expectTypeOf(spillway.attach(server)).toEqualTypeOf<http.Server>()
http.createServer(spillway.wrap(app))

createSpillway({ routes: { label: (req: Request, _res, template) => req.app.get('name') ?? template } })

app.get('/report', (req, res) => {
  expectTypeOf(spillway.signal(req)).toEqualTypeOf<AbortSignal>()
  spillway.signal(res)
})
// @ts-expect-error a socket is not a request
spillway.signal({ socket: null })

// @ts-expect-error the factory is not the middleware
app.use(spillway.express)
// @ts-expect-error nor is that of the error handler
app.use(spillway.errorHandler)
// @ts-expect-error Koa's middleware
app.use(spillway.koa())
// @ts-expect-error an app is not a server: attach what `listen` returns
spillway.attach(app)
