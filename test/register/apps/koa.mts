import Router from '@koa/router'
import Koa, { type Context } from 'koa'
import { endWithStdin } from './end-with-stdin.js'

const app: Koa = new Koa()
app.silent = true
const router = new Router()
router.get('/users/:id', (ctx: Context) => {
  ctx.body = { id: ctx.params.id as string }
})
app.use(router.routes())
endWithStdin(app.listen(0, '127.0.0.1'))
