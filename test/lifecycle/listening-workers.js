'use strict'
// Three workers of a cluster that ask for the same port for their admin servers, one after the other; tells what each got.

const cluster = require('node:cluster')
const { createSpillway } = require('../../src/index.js')

const WORKERS = 3

function fork(told) {
  const worker = cluster.fork({ PORT: told[0] ?? 0 })
  worker.on('message', (message) => {
    told.push(message)
    if (told.length < WORKERS) return fork(told)
    process.stdout.write(`${JSON.stringify(told)}\n`)
    for (const each of Object.values(cluster.workers)) each.kill()
  })
}

async function listen() {
  const spillway = createSpillway({ logger: false })
  const { port, code } = await spillway.listen({ port: Number(process.env.PORT) }).catch((error) => error)
  process.send(port ?? code)
}

if (cluster.isPrimary) fork([])
else listen()
