'use strict'
// A Restify server that sends an ETag with its content, so that clients may cache it.
//
//   node app.js            each request registers one more listener for `after`, and each answer runs them all
//   node app.js --fixed    one listener, registered at the start

const { createHash } = require('node:crypto')
const restify = require('restify')
const { createSpillway } = require('spillway')

const isFixed = process.argv.includes('--fixed')

// In `observe` Spillway only measures: nothing is rejected, so that before and after do the same work.
const spillway = createSpillway({ shed: { mode: 'observe' } })
const server = restify.createServer()
server.pre(spillway.express())

const etags = new Map()
const content = Array.from({ length: 20 }, (_, id) => ({ id, text: `chapter ${id}` }))
const hashOf = (text) => createHash('sha512').update(text).digest('hex')

/** Remembers the hash of what was sent, for the next request of the same URL. */
function rememberEtag(req, res) {
  if (res.statusCode !== 200) return
  etags.set(hashOf(req.url), hashOf(JSON.stringify(res._body)))
}

if (isFixed) server.on('after', rememberEtag)

server.use(function addEtag(req, res, next) {
  if (!isFixed) server.on('after', rememberEtag)
  const etag = etags.get(hashOf(req.url))
  if (etag !== undefined) res.set('ETag', etag)
  next()
})

server.get('/chapters', (req, res, next) => {
  res.send(content)
  next()
})

server.listen(process.env.PORT ?? 3000, '127.0.0.1', () =>
  console.log(`Serving http://127.0.0.1:${server.address().port}/chapters`)
)
spillway
  .listen({ port: Number(process.env.ADMIN_PORT ?? 9464) })
  .then(({ url }) => console.log(`Admin server at ${url}`))
