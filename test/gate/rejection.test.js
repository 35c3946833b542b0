'use strict'
// Which answer a refused request gets, by its headers.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { DrivenAdmission } = require('./driven-admission')

function refused(req) {
  const driven = new DrivenAdmission({ mode: 'threshold', maxConcurrent: 1 })
  driven.ask()
  const { answer } = driven.ask(req)
  const headers = {}
  for (let i = 0; i < answer.head.length; i += 2) headers[answer.head[i].toLowerCase()] = answer.head[i + 1]
  return { ...answer, headers }
}

for (const [accept, type] of [
  [undefined, 'application/problem+json'],
  ['*/*', 'application/problem+json'],
  ['application/json', 'application/problem+json'],
  ['application/problem+json', 'application/problem+json'],
  ['text/html, application/json;q=0.9', 'application/problem+json'],
  ['text/html,application/xhtml+xml,*/*;q=0.8', 'application/problem+json'],
  ['image/png', 'application/problem+json'],
  ['', 'application/problem+json'],
  ['text/plain', 'text/plain; charset=utf-8'],
  ['text/html', 'text/plain; charset=utf-8'],
]) {
  test(`a client that accepts ${accept === undefined ? 'whatever' : `'${accept}'`} gets ${type}`, () => {
    const { status, headers, body } = refused({ headers: accept === undefined ? {} : { accept } })
    assert.equal(status, 503)
    assert.equal(headers['content-type'], type)
    assert.equal(headers['content-length'], body.length)
    assert.equal(headers['cache-control'], 'no-store')
  })
}

for (const [title, headers, httpVersionMajor, isClosed] of [
  ['no body', {}, 1, false],
  ['an empty body', { 'content-length': '0' }, 1, false],
  ['a body of 64 kB', { 'content-length': '65536' }, 1, false],
  ['a longer body', { 'content-length': '65537' }, 1, true],
  ['a small body that it asked to send', { 'content-length': '5', expect: '100-continue' }, 1, true],
  ['a chunked body', { 'transfer-encoding': 'chunked' }, 1, true],
  ['a long body over HTTP/2', { 'content-length': '65537' }, 2, false],
]) {
  test(`a request with ${title} is answered ${isClosed ? 'and its connection closed' : 'on a connection that stays'}`, () => {
    assert.equal(refused({ headers, httpVersionMajor }).headers.connection, isClosed ? 'close' : undefined)
  })
}

test('HEAD gets the headers of the answer it would have had, and no body', () => {
  const { headers, body } = refused({ method: 'HEAD' })
  assert.equal(body, undefined)
  assert.equal(headers['content-length'], refused({}).body.length)
})

test('the answer does not contain the reason', () => {
  assert.doesNotMatch(String(refused({}).body), /concurrency|delay|memory/)
})

test('headers of the user replace the standard ones, each once, except those that describe the body', () => {
  const headers = () => ({
    'retry-after': '30',
    'Content-Length': '5',
    'Transfer-Encoding': 'chunked',
    'X-Shop': 'a',
  })
  const driven = new DrivenAdmission({ mode: 'threshold', maxConcurrent: 1, headers })
  driven.ask()
  const { head, body } = driven.ask().answer
  const named = (name) => head.filter((each, i) => i % 2 === 0 && each.toLowerCase() === name)
  const textOf = (name) => head[head.findIndex((each) => String(each).toLowerCase() === name) + 1]
  for (const name of ['retry-after', 'content-length', 'x-shop']) assert.equal(named(name).length, 1, name)
  assert.deepEqual(named('transfer-encoding'), [])
  assert.equal(textOf('retry-after'), '30')
  assert.equal(textOf('content-length'), body.length)
})

test('an answer that cannot be written is reported, and its connection cut, from the queue too', () => {
  const driven = new DrivenAdmission({ maxConcurrent: 1, maxDelay: 200 })
  driven.ask()
  const request = driven.ask()
  let cut = 0
  Object.assign(request.res, {
    writeHead() {
      throw new Error('no 503 here')
    },
    destroy: () => cut++,
  })
  for (let i = 0; i < 50; i++) driven.turn(10)
  assert.equal(cut, 1)
  assert.deepEqual(driven.logged, ['shed'])
})
