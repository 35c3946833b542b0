'use strict'
// One worker under the scheduling policy given, with a port of its own if `reusePort` is too, which asks
// itself over new connections and tells what came of it.

const cluster = require('node:cluster')
const http = require('node:http')
const { Admission } = require('../../src/core/gate/admission')
const { createSpillway } = require('../../src/index.js')

const CONNECTIONS = 40
const [policy, reusePort] = process.argv.slice(2)

if (cluster.isPrimary) {
  cluster.schedulingPolicy = cluster[policy]
  const worker = cluster.fork()
  worker.on('message', (told) => console.log(JSON.stringify(told)))
  worker.on('exit', (code) => process.exit(code))
} else {
  const kinds = new Set()
  const { onConnectionEvent } = Admission.prototype
  Admission.prototype.onConnectionEvent = function (event, how) {
    kinds.add(how.isHandedOver)
    onConnectionEvent.call(this, event, how)
  }
  const shed = { mode: /** @type {const} */ ('adaptive'), maxDelay: 60_000, targetDelay: 60_000 }
  const spillway = createSpillway({ logger: false, shed })
  const server = spillway.attach(http.createServer((_req, res) => res.end('done')))
  server.listen({ port: 0, host: '127.0.0.1', reusePort: reusePort === 'reusePort' }, async () => {
    const answers = await Promise.all(Array.from({ length: CONNECTIONS }, () => ask(server.address().port)))
    const { admitted, queued } = spillway.snapshot().admission
    const done = answers.filter((status) => status === 200).length
    const told = { done, admitted, queued, isHandedOver: [...kinds] }
    process.send(told, () => process.exit(0))
  })
}

function ask(port) {
  return new Promise((resolve, reject) => {
    const req = http.get({ port, host: '127.0.0.1', agent: false }, (res) => {
      res.resume().on('end', () => resolve(res.statusCode))
    })
    req.on('error', reject)
  })
}
