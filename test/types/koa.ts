// As a strict TypeScript user of Koa, with its types installed.

import http from 'node:http'
import http2 from 'node:http2'
import { expectTypeOf } from 'expect-type'
import Koa from 'koa'
import { createSpillway } from 'spillway'

const spillway = createSpillway()
const app = new Koa()

app.use(spillway.koa())
expectTypeOf(spillway.attach(app.listen(3000))).toEqualTypeOf<http.Server>()
http.createServer(spillway.wrap(app.callback()))
http2.createServer(spillway.wrap(app.callback()))

const typed = new Koa<{ user: string }, { tenant: string }>()
typed.use(spillway.koa())
typed.use(async (ctx, next) => {
  await next()
  expectTypeOf(ctx.state.user).toEqualTypeOf<string>()
  expectTypeOf(ctx.tenant).toEqualTypeOf<string>()
})

app.use((ctx) => void spillway.signal(ctx))

// @ts-expect-error the factory is not the middleware
app.use(spillway.koa)
// @ts-expect-error Express's middleware
app.use(spillway.express())
// @ts-expect-error the instance is not a middleware
app.use(spillway)
// @ts-expect-error an app is not a server: attach what `listen` returns
spillway.attach(app)
