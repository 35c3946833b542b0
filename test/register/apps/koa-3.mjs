import Router from '@koa/router'
import Koa from 'koa'
import { endWithStdin } from './end-with-stdin.js'

const app = new Koa({ proxy: false })
app.silent = true
const router = new Router()
router.get('/users/:id', (ctx) => {
  ctx.body = { id: ctx.params.id }
})
router.get('/fails', () => {
  throw new Error('as intended')
})
app.use(router.routes())
endWithStdin(app.listen(0, '127.0.0.1'))
