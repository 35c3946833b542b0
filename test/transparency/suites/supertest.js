'use strict'
// What the documentation of supertest says: it listens for an app by itself.

const assert = require('node:assert/strict')
const http = require('node:http')
const { test } = require('node:test')
const express = require('express')
const Koa = require('koa')
const request = require('supertest')

const app = express().set('env', 'test').use(express.json())
app.get('/user', (_req, res) => void res.status(200).json({ name: 'john' }))
app.post('/user', (req, res) => void res.status(201).json(req.body))
app.get('/cookie', (req, res) => void res.cookie('a', 'b').send(req.headers.cookie ?? 'none'))

test('an app is asked without listening', () =>
  request(app)
    .get('/user')
    .expect('Content-Type', /json/)
    .expect('Content-Length', '15')
    .expect(200, { name: 'john' }))

test('a body is sent', () => request(app).post('/user').send({ a: 1 }).expect(201, { a: 1 }))

test('what is not as expected is an error', () =>
  assert.rejects(request(app).get('/user').expect(404), /expected 404 "Not Found", got 200 "OK"/))

test('an agent keeps cookies', async () => {
  const agent = request.agent(app)
  await agent.get('/cookie').expect('none')
  await agent.get('/cookie').expect('a=b')
})

test('a callback of Koa, and a plain listener', async () => {
  const koa = new Koa().use((ctx) => void (ctx.body = 'koa'))
  await request(koa.callback()).get('/').expect(200, 'koa')
  await request((_req, res) => res.end('plain'))
    .get('/')
    .expect(200, 'plain')
})

test('a server is closed again after each request', async () => {
  const server = http.createServer((_req, res) => res.end('once'))
  await request(server).get('/').expect(200, 'once')
  assert.equal(server.listening, false)
})

test('twenty at once', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => request(app).get('/user')))
  assert.ok(answers.every(({ status }) => status === 200))
})
