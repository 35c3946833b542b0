'use strict'
require('reflect-metadata')
const { Controller, Get, Module, Param } = require('@nestjs/common')
const { NestFactory } = require('@nestjs/core')
const { endWithStdin } = require('./end-with-stdin')

class Users {
  get(id) {
    return { id }
  }
}
// Decorators without their syntax.
Controller('users')(Users)
Get(':id')(Users.prototype, 'get', Object.getOwnPropertyDescriptor(Users.prototype, 'get'))
Param('id')(Users.prototype, 'get', 0)
class App {}
Module({ controllers: [Users] })(App)

NestFactory.create(App, { logger: false }).then(async (app) => {
  await app.listen(0, '127.0.0.1')
  endWithStdin(app.getHttpServer())
})
