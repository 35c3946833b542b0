'use strict'
// node chat-server.js <options as JSON>: the Socket.IO service of bench/healthy, a chat with a loudspeaker.
// A message finds the users nearby in a grid, and signs a push payload for each of them.

const crypto = require('node:crypto')
const http = require('node:http')
const { peer } = require('../support/peers')
const { host, spillwayOf } = require('./host')

const { Server } = peer('socket.io')

const { mode } = JSON.parse(process.argv[2])
const USERS = 2000
const CELLS_PER_DEGREE = 100
const EARTH_METRES = 12_742_000
const RADIANS = Math.PI / 180

/** Spreads the users evenly over half a degree each way, in the same places in each run. */
const userAt = (i) => ({
  id: i,
  lng: 127 + ((i * 0.6180339887) % 1) * 0.5,
  lat: 37 + ((i * 0.7548776662) % 1) * 0.5,
  key: crypto.randomBytes(16).toString('base64'),
})

const cellOf = (lng, lat) => `${Math.floor(lng * CELLS_PER_DEGREE)}:${Math.floor(lat * CELLS_PER_DEGREE)}`

const grid = new Map()
for (let i = 0; i < USERS; i++) {
  const user = userAt(i)
  const cell = cellOf(user.lng, user.lat)
  if (!grid.has(cell)) grid.set(cell, [])
  grid.get(cell).push(user)
}

function metresBetween(a, b) {
  const dLat = (b.lat - a.lat) * RADIANS
  const dLng = (b.lng - a.lng) * RADIANS
  const haversine =
    Math.sin(dLat / 2) ** 2 + Math.cos(a.lat * RADIANS) * Math.cos(b.lat * RADIANS) * Math.sin(dLng / 2) ** 2
  return EARTH_METRES * Math.asin(Math.sqrt(haversine))
}

const AROUND = [-1, 0, 1].flatMap((x) => [-1, 0, 1].map((y) => [x / CELLS_PER_DEGREE, y / CELLS_PER_DEGREE]))

/** @returns {any[]} the users within the radius in metres, if they are in the cells around */
const usersNear = ({ lng, lat }, radius) =>
  AROUND.flatMap(([x, y]) => grid.get(cellOf(lng + x, lat + y)) ?? []).filter(
    (user) => metresBetween(user, { lng, lat }) < radius
  )

const payloadFor = (user, message) =>
  crypto
    .createHmac('sha256', user.key)
    .update(JSON.stringify({ to: user.id, message }))
    .digest('base64')

const spillway = spillwayOf(mode)
const server = http.createServer((_req, res) => res.end('index'))
spillway.attach(server)
new Server(server).on('connection', (socket) => {
  socket.on('message', ({ at, text, radius }, acknowledge) => {
    const near = usersNear(at, radius)
    for (const user of near) payloadFor(user, text)
    socket.emit('saved', { sent: near.length })
    acknowledge({ sent: near.length })
  })
})
host(server, spillway)
