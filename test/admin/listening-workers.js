'use strict'
// Three workers of a cluster that ask for the same port for their admin servers, one after the other; tells
// what each got, and whose pages are there once the worker that had the port is gone.

const cluster = require('node:cluster')
const net = require('node:net')
const { createSpillway } = require('../../src/index.js')

const WORKERS = 3

function fork(port, told) {
  const worker = cluster.fork({ PORT: port })
  worker.on('message', async (message) => {
    told.push(message)
    if (told.length < WORKERS) return fork(port, told)
    cluster.workers[1].process.kill('SIGKILL')
    const successor = await whoAnswers(port, (version) => version !== '1')
    process.stdout.write(`${JSON.stringify({ told, successor })}\n`)
    for (const each of Object.values(cluster.workers)) each.kill()
  })
}

/** Asked until there is one: nothing tells from outside when a port is taken over. */
async function whoAnswers(port, isAwaited) {
  for (;;) {
    try {
      const { current } = await (await fetch(`http://127.0.0.1:${port}/releases`)).json()
      if (isAwaited(current.version)) return current.version
    } catch {
      // Nobody has it yet.
    }
  }
}

async function listen() {
  const spillway = createSpillway({ logger: false, release: { version: String(cluster.worker.id) } })
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
