// As a user of Node's own servers: each comes back as what it is.

import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import net from 'node:net'
import { expectTypeOf } from 'expect-type'
import { createSpillway } from 'spillway'

const spillway = createSpillway()

expectTypeOf(spillway.attach(http.createServer())).toEqualTypeOf<http.Server>()
expectTypeOf(spillway.attach(https.createServer({}))).toEqualTypeOf<https.Server>()
expectTypeOf(spillway.attach(http2.createServer())).toEqualTypeOf<http2.Http2Server>()
expectTypeOf(spillway.attach(http2.createSecureServer({}))).toEqualTypeOf<http2.Http2SecureServer>()

class OwnRequest extends http.IncomingMessage {
  tenant = ''
}
const own = http.createServer({ IncomingMessage: OwnRequest }, (req) => req.tenant)
expectTypeOf(spillway.attach(own)).toEqualTypeOf(own)

const restify = { server: http.createServer(), pre() {} }
expectTypeOf(spillway.attach(restify)).toEqualTypeOf(restify)
spillway.attach({ httpServer: https.createServer({}) })
spillway.attach({ listener: http2.createServer() })
spillway.attach({ getHttpServer: () => http.createServer() as unknown })

http.createServer(spillway.wrap((req, res) => res.end(req.url)))
https.createServer(
  {},
  spillway.wrap(async (req, res) => res.end(req.url))
)
http2.createServer(
  spillway.wrap((req: http2.Http2ServerRequest, res: http2.Http2ServerResponse) =>
    res.stream.respond(req.headers)
  )
)
http.createServer(
  { IncomingMessage: OwnRequest },
  spillway.wrap((req: OwnRequest, res) => res.end(req.tenant))
)
const listener = spillway.wrap((req, res) => {
  expectTypeOf(req).toEqualTypeOf<http.IncomingMessage>()
  expectTypeOf(res).toEqualTypeOf<http.ServerResponse>()
})
expectTypeOf(listener).parameters.toEqualTypeOf<[http.IncomingMessage, http.ServerResponse]>()

http.createServer(spillway.handler('live'))
http2.createServer(spillway.handler('ready'))

// @ts-expect-error there is no such handler
spillway.handler('status')
// @ts-expect-error speaks no HTTP
spillway.attach(net.createServer())
// @ts-expect-error a server already, not a listener
spillway.wrap(http.createServer())
// @ts-expect-error an app, which is not listening yet
spillway.attach((req: http.IncomingMessage, res: http.ServerResponse) => res.end(req.url))
// @ts-expect-error nothing to attach to
spillway.attach()

http.createServer((req, res) => {
  expectTypeOf(spillway.pressure).toBeNumber()
  res.end(spillway.shouldDegrade(req) && spillway.shouldDegrade(res) ? 'short' : 'whole')
})
http2.createServer((req, res) => res.end(String(spillway.shouldDegrade(req))))
expectTypeOf(spillway.agent({ port: 0 })).resolves.toEqualTypeOf<{
  readonly host: string
  readonly port: number
}>()
// @ts-expect-error measured, and not set
spillway.pressure = 1
