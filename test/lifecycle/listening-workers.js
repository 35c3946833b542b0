'use strict'
// Three workers of a cluster that ask for the same port for their admin servers, one after the other; tells what each got.

const cluster = require('node:cluster')
const net = require('node:net')
const { createSpillway } = require('../../src/index.js')

const WORKERS = 3

function fork(port, told) {
  const worker = cluster.fork({ PORT: port })
  worker.on('message', (message) => {
    told.push(message)
    if (told.length < WORKERS) return fork(port, told)
    process.stdout.write(`${JSON.stringify(told)}\n`)
    for (const each of Object.values(cluster.workers)) each.kill()
  })
}

async function listen() {
  const spillway = createSpillway({ logger: false })
  const { port, code } = await spillway.listen({ port: Number(process.env.PORT) }).catch((error) => error)
  process.send(port ?? code)
}

/** Not port 0: that a primary would share with nobody anyway. */
function forkOnFreePort() {
  const server = net.createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address()
    server.close(() => fork(port, []))
  })
}

if (cluster.isPrimary) forkOnFreePort()
else listen()
