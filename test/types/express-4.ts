// As a user of Express 4, of Connect and of Restify. Their types are written out here as far as middleware
// goes: those of Express 4 and 5 cannot be installed beside each other, and those of Restify lag behind it.

import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import connect from 'connect'
import { createSpillway } from 'spillway'

const spillway = createSpillway()

interface Express4Request extends IncomingMessage {
  app: Express4
  baseUrl: string
  params: Record<string, string>
  res?: Express4Response
}
interface Express4Response extends ServerResponse {
  app: Express4
  req: Express4Request
  json(body: unknown): this
}
interface Express4Next {
  (error?: unknown): void
  (deferToNext: 'router' | 'route'): void
}
type Express4Handler = (req: Express4Request, res: Express4Response, next: Express4Next) => void
interface Express4 {
  (req: Express4Request | IncomingMessage, res: Express4Response | ServerResponse): unknown
  use(...handlers: Express4Handler[]): this
  get(path: string, ...handlers: Express4Handler[]): this
  listen(port: number): http.Server
}
declare const app: Express4
app.use(spillway.express())
app.get('/admin/metrics', spillway.handler('metrics'))
spillway.attach(app.listen(3000))
http.createServer(spillway.wrap(app))
// @ts-expect-error Koa's middleware
app.use(spillway.koa())
// @ts-expect-error an app is not a server
spillway.attach(app)

const stack = connect()
stack.use(spillway.express())
stack.use('/api', spillway.express())
http.createServer(spillway.wrap(stack))
// @ts-expect-error Koa's middleware
stack.use(spillway.koa())

interface RestifyRequest extends IncomingMessage {
  getRoute(): { path: string | RegExp }
}
interface RestifyResponse extends ServerResponse {
  send(body?: unknown): unknown
}
interface RestifyNext {
  (error?: unknown): void
  ifError(error?: unknown): void
}
declare const restify: {
  server: http.Server
  pre(...handlers: ((req: RestifyRequest, res: RestifyResponse, next: RestifyNext) => unknown)[]): unknown
}
restify.pre(spillway.express())
spillway.attach(restify.server)
