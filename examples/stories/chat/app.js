'use strict'
// A chat with a loudspeaker: a message goes to everybody who is near, and each of them gets a signed push
// notification.
//
//   node app.js            looks at a copy of every user, for each message
//   node app.js --fixed    looks at the users of the cells around it

const { createHmac, randomBytes } = require('node:crypto')
const http = require('node:http')
const { Server } = require('socket.io')
const { createSpillway } = require('spillway')
const { metresBetween, UserGrid } = require('./user-grid')

const isFixed = process.argv.includes('--fixed')
const USERS = 5000

const spillway = createSpillway({
  // In `observe` Spillway only measures: everybody is let in.
  shed: { mode: process.env.SHED === 'adaptive' ? 'adaptive' : 'observe' },
})
const server = http.createServer((_req, res) => res.end('A chat: connect by Socket.IO.'))
spillway.attach(server, { signals: true })
const io = new Server(server)
spillway.sockets(io)

/** Users as the database returns them, spread over a city. */
const users = Array.from({ length: USERS }, (_, id) => ({
  id,
  longitude: 127 + ((id * 0.618034) % 1) / 2,
  latitude: 37 + ((id * 0.754878) % 1) / 2,
  secret: randomBytes(16).toString('base64'),
  profile: { nick: `user ${id}`, tags: ['cats', 'chess', 'cinema'], since: new Date() },
}))
const grid = new UserGrid(users)

/** The driver returns new documents for each query. */
const copyOf = (user) => JSON.parse(JSON.stringify(user))
const findAll = () => users.map(copyOf)

function findNear(place, metres) {
  return findAll().filter((user) => metresBetween(user, place) < metres)
}

function findNearInGrid(place, metres) {
  return grid.around(place, metres).filter((user) => metresBetween(user, place) < metres)
}

function signPush({ id, secret }, text) {
  return createHmac('sha256', secret)
    .update(JSON.stringify({ to: id, text }))
    .digest('base64')
}

io.on('connection', (socket) => {
  socket.on('loudspeaker', ({ place, metres, text }, acknowledge) => {
    const near = isFixed ? findNearInGrid(place, metres) : findNear(place, metres)
    const pushes = near.map((user) => signPush(user, text))
    acknowledge({ sentTo: pushes.length })
  })
})

server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () =>
  console.log(`Serving http://127.0.0.1:${server.address().port}/`)
)
spillway
  .listen({ port: Number(process.env.ADMIN_PORT ?? 9464) })
  .then(({ url }) => console.log(`Admin server at ${url}`))
