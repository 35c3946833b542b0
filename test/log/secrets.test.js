'use strict'
// The forms in which a secret can stand in a request, its answer and its error. Each request fails, so that
// the access log, the log of slow requests and the log of errors have a line of it, with all headers and an
// error that quotes the URL; each is asked with the query hidden and shown. No line has the secret.

const assert = require('node:assert/strict')
const http = require('node:http')
const { describe, it } = require('node:test')
const express = require('express')
const { pinoWithLines } = require('../support/lines')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const WORD = 's3cret-Wd'
const HEX = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'
const BASE64 = 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQ'
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U'

/** What is asked for, and where it is no query, the secret in it. */
const TARGETS = [
  `/a?token=${WORD}`,
  `/a?access_token=${WORD}&page=1`,
  `/a?ACCESS-TOKEN=${WORD}`,
  `/a?apiKey=${WORD}`,
  `/a?api_key=${WORD}`,
  `/a?X-API-KEY=${WORD}`,
  `/a?key=${WORD}`,
  `/a?password=${WORD}`,
  `/a?pwd=${WORD}`,
  `/a?client_secret=${WORD}`,
  `/a?user[password]=${WORD}`,
  `/a?user%5Bpassword%5D=${WORD}`,
  `/a?a[b][auth][token]=${WORD}`,
  `/a?token[]=${WORD}&token[]=${WORD}`,
  `/a?%74oken=${WORD}`,
  `/a?%2574oken=${WORD}`,
  `/a?code=${WORD}&state=1`,
  `/a?sig=${WORD}`,
  `/a?X-Amz-Signature=${WORD}`,
  `/a?sessionId=${WORD}`,
  `/a?b=1;token=${WORD}`,
  `/a?authorization=Bearer%20${WORD}`,
  `/a?redirect=https%3A%2F%2Fuser%3A${WORD}%40host`,
  `/a?next=%2Freset%2F${WORD}`,
  `/a?url=http://host/?token=${WORD}`,
  `/a?variables={"name":"${WORD}"}`,
  `/a?query=mutation{login(password:"${WORD}"){id}}`,
  [`/a?q=${JWT}`, JWT],
  [`/a?q=${HEX}`, HEX],
  [`/a?${BASE64}`, BASE64],
  `/a#access_token=${WORD}`,
  `http://user:${WORD}@host/a`,
  `HTTP://user:${WORD}@host/a?b=1`,
  `http://user:x@${WORD}@host/a`,
  `http://${WORD}@host/a`,
  `//user:${WORD}@host/a`,
  `/proxy/http://user:${WORD}@host/a`,
  `/proxy/http%3A%2F%2Fuser%3A${WORD}%40host%2Fa`,
  `/proxy/http%253A%252F%252Fuser%253A${WORD}%2540host`,
  `/a;jsessionid=${WORD}`,
  `/a;JSESSIONID=${WORD}/b`,
  `/a%3Bjsessionid%3D${WORD}`,
  `/callback/access_token=${WORD}&state=1`,
  `/reset/${WORD}`,
  `/RESET/${WORD}`,
  `/%72eset/${WORD}`,
  `/reset-password/${WORD}/7`,
  `/users/7/verify-email/${WORD}`,
  `/invite/${WORD}/accept`,
  `/magic-link/${WORD}`,
  `/api/token/${WORD}`,
  `/unsubscribe/${WORD}?x=1`,
  [`/view/${JWT}`, JWT],
  [`/download/${HEX}.pdf`, HEX],
  [`/download/${HEX.toUpperCase()}`, HEX],
  [`/download/${BASE64}`, BASE64],
  [`/download/${BASE64}%3D%3D`, BASE64],
  ['/pay/sk_live_4eC39HqLyjWDarjtT1zdp7dc', '4eC39HqLyjWDarjtT1zdp7dc'],
].map((each) => (typeof each === 'string' ? [each, WORD] : each))

/** What only a query that is hidden hides. */
const UNKNOWN = [`/a?unknown=${WORD}`, `/a;v=1;unknown=${WORD}/b`].map((path) => [path, WORD])

/** Of the request. */
const HEADERS = {
  Authorization: `Bearer ${WORD}`,
  AUTHORIZATION: `Basic ${WORD}`,
  'Proxy-Authorization': `Digest ${WORD}`,
  Cookie: `sid=${WORD}; theme=dark`,
  'X-Api-Key': WORD,
  'X-Auth-Token': WORD,
  'X-Csrf-Token': WORD,
  'X-Amz-Security-Token': WORD,
  'X-Acme': WORD,
  Referer: `https://host/a?token=${WORD}`,
  Origin: `https://user:${WORD}@host`,
  Host: `user:${WORD}@host`,
  'User-Agent': `bot (+http://user:${WORD}@host/?token=${WORD})`,
  'X-Original-Url': `/a?token=${WORD}`,
  'X-Forwarded-Host': `user:${WORD}@host`,
  'Sec-WebSocket-Protocol': `bearer, ${WORD}`,
  Via: `1.1 user:${WORD}@proxy`,
}

/** Of the answer. */
const ANSWER = {
  'Set-Cookie': [`sid=${WORD}`, `remember=${WORD}; HttpOnly`],
  Location: `https://host/a?token=${WORD}`,
  'X-Auth-Token': WORD,
  Link: `<https://host/a?token=${WORD}>; rel=next`,
  'Content-Security-Policy': `script-src 'nonce-${WORD}'; report-uri https://host/csp?key=${WORD}`,
  'WWW-Authenticate': `Digest nonce="${WORD}"`,
  'X-Acme': WORD,
}

const axiosError = () =>
  Object.assign(new Error('Request failed with status code 401'), {
    name: 'AxiosError',
    code: 'ERR_BAD_REQUEST',
    config: { url: `https://host/?token=${WORD}`, headers: { Authorization: `Bearer ${WORD}` }, data: WORD },
    request: { path: `/?token=${WORD}`, _header: WORD },
    response: { headers: { 'set-cookie': [WORD] }, data: WORD },
    toJSON: () => ({ config: WORD }),
  })

const unparsed = () => {
  try {
    return JSON.parse(WORD)
  } catch (error) {
    return error
  }
}

/** What is thrown. */
const ERRORS = {
  'a URL with its user': () => new Error(`GET https://user:${WORD}@host/ failed`),
  'a URL with its query': () => new Error(`GET https://host/a?token=${WORD} failed`),
  'a path of a reset': () => new Error(`Cannot POST /reset/${WORD}`),
  'the address of a database': () => new Error(`cannot connect to postgres://app:${WORD}@db:5432/app`),
  'a pair': () => new Error(`password=${WORD}`),
  'an object in its message': () => new Error(`sent ${JSON.stringify({ apiKey: WORD })}`),
  'a header in its message': () => new Error(`sent Authorization: Bearer ${WORD}`),
  'what JSON.parse says of a body': unparsed,
  'the config of axios': axiosError,
  'a cause': () => new Error('outer', { cause: new Error(`password=${WORD}`) }),
  'a cause of a cause': () => new Error('outer', { cause: new Error('inner', { cause: axiosError() }) }),
  'errors of an AggregateError': () =>
    new AggregateError([new Error(`https://user:${WORD}@host`), axiosError()], `password=${WORD}`),
  'a body': () => Object.assign(new Error(WORD), { body: WORD, status: 400 }),
  'a body in bytes': () => Object.assign(new Error(`bad ${WORD}`), { body: Buffer.from(WORD) }),
  'an input': () => Object.assign(new TypeError('Invalid URL'), { input: `https://user:${WORD}@host` }),
  'a code': () => Object.assign(new Error('x'), { code: `https://user:${WORD}@host` }),
  'lines that look like its stack': () => new Error(`password=${WORD}\n    at https://user:${WORD}@host:1:1`),
  'another message than when it was made': () =>
    Object.assign(new Error(`password=${WORD}`), { message: 'mild' }),
  'no Error': () => ({ message: `password=${WORD}`, stack: `password=${WORD}`, other: WORD }),
  'a string': () => `password=${WORD}`,
}

/**
 * Asks a server whose every request fails, by an error that quotes its URL or by one that it is told. Each is
 * of its own: of many requests that fail only some have a line.
 */
async function ask(t, log, { path = '/a', headers = {}, fail = undefined }) {
  const { lines, logger } = pinoWithLines()
  const spillway = spillwayFor(t, {
    logger,
    log: { access: true, slowAfter: 1e-6, ...log },
    shed: { mode: 'off' },
  })
  const app = express()
  app.use(spillway.express())
  app.use((req, res, next) => {
    for (const [name, value] of Object.entries(ANSWER)) res.setHeader(name, value)
    next(fail?.() ?? new Error(`GET http://localhost${req.originalUrl} answered 500: ${req.originalUrl}`))
  })
  app.use(spillway.errorHandler())
  const { port } = await serve(t, http.createServer(app))
  const body = await get(port, path, headers)
  await ended(spillway, 1)
  while (lines.length < 3) await new Promise((resolve) => setImmediate(resolve))
  return {
    spillway,
    body,
    text: JSON.stringify(lines),
    events: lines.map(({ event, msg }) => event ?? msg).sort(),
  }
}

/** As it is, whatever the path: http.request changes nothing of it. */
const get = (port, path, headers) =>
  new Promise((resolve, reject) => {
    http
      .get({ port, host: '127.0.0.1', agent: false, path, headers }, (res) => {
        let body = ''
        res.setEncoding('utf8').on('data', (piece) => (body += piece))
        res.on('end', () => resolve(body))
      })
      .on('error', reject)
  })

const EVENTS = ['error', 'request errored', 'slow']
const lower = (text) => text.toLowerCase()

for (const query of [false, true]) {
  describe(`with log.query ${query}`, () => {
    it('no line shows a secret of a URL', async (t) => {
      for (const [path, secret] of query ? TARGETS : [...TARGETS, ...UNKNOWN]) {
        const { text, events } = await ask(t, { query }, { path })
        assert.deepEqual(events, EVENTS, path)
        assert.equal(lower(text).includes(lower(secret)), false, `${path}: ${text}`)
      }
    })

    it('no line shows a secret of a header, and of those that are named no secret of a URL', async (t) => {
      const headers = ['referer', 'x-original-url', 'link', 'location']
      for (const [name, value] of Object.entries(HEADERS)) {
        const { text, events } = await ask(t, { query, headers }, { headers: { [name]: value } })
        assert.deepEqual(events, EVENTS, name)
        assert.equal(text.includes(WORD), false, `${name}: ${text}`)
      }
    })

    it('neither a line nor the answer shows a secret of an error', async (t) => {
      for (const [what, fail] of Object.entries(ERRORS)) {
        const { text, body, spillway } = await ask(t, { query }, { fail })
        assert.equal(text.includes(WORD), false, `${what}: ${text}`)
        assert.equal(body.includes(WORD), false, `${what}: ${body}`)
        assert.equal(JSON.stringify(spillway.snapshot()).includes(WORD), false)
      }
    })
  })
}

it('no line shows a secret of an error in a callback of the user', async (t) => {
  for (const [what, fail] of Object.entries(ERRORS)) {
    const { lines, logger } = pinoWithLines()
    const label = () => {
      throw fail()
    }
    const spillway = spillwayFor(t, { logger, routes: { label } })
    const { get: probe } = await serve(
      t,
      spillway.wrap((_req, res) => res.end())
    )
    await probe('/')
    await ended(spillway, 1)
    assert.equal(lines.length, 1)
    assert.equal(lines[0].place, 'routes.label')
    assert.equal(JSON.stringify(lines).includes(WORD), false, `${what}: ${JSON.stringify(lines)}`)
  }
})

it('no line shows a secret of a health check', async (t) => {
  const { lines, logger } = pinoWithLines()
  const spillway = spillwayFor(t, { logger })
  spillway.health.check('upstream', () => {
    throw axiosError()
  })
  const { get: probe } = await serve(
    t,
    spillway.wrap((_req, res) => res.end())
  )
  assert.equal((await probe('/readyz')).status, 503)
  assert.equal(lines.length, 1)
  assert.equal(lines[0].err.type, 'AxiosError')
  assert.equal(JSON.stringify(lines).includes(WORD), false)
})
