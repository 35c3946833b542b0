'use strict'
// Koa with koa-session: each request reads a signed session and writes it.

const { peer } = require('../../support/peers')
const { HttpLoad, visit } = require('../load')

const RATE = 1200

class Load extends HttpLoad {
  constructor(port) {
    super(port, { rate: RATE, path: '/' })
    this.port = port
  }

  /** The first visit opens the session of all that follow. */
  async start() {
    const { headers } = await visit(this.port, '/')
    const cookies = headers['set-cookie'] ?? []
    this.request.headers.cookie = cookies.map((each) => each.split(';')[0]).join('; ')
    await super.start()
  }
}

module.exports = {
  name: 'koa-session',
  title: 'Koa with sessions, koa-session',
  unit: 'request',
  framework: 'koa',
  serve(app) {
    const { createSession } = peer('koa-session')
    app.keys = ['a key for signatures']
    app.use(createSession({}, app))
    app.use((ctx) => {
      ctx.session.views = (ctx.session.views ?? 0) + 1
      ctx.body = { views: ctx.session.views }
    })
  },
  load: (port) => new Load(port),
}
