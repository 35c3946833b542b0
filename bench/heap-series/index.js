'use strict'
// npm run bench -- heap-series [flags]
//
// Records the heap after the collections of a real process under load, for test/process/heap-trend.test.js,
// with the verdict of spillway for each minute. Each collection is recorded with its second (as if --speed
// were 1), the kB in use after it, and 1 for a major or 0 for a minor collection.
//
//   --kind leak-100   what the heap does: none, leak-N (N megabytes an hour), cache, lru, sawtooth, step or warming
//   --minutes 60      how long, as if --speed were 1
//   --rate 40         requests a second
//   --speed 10        how many times as many: at 10, six minutes stand for an hour
//   --save <name>     saves to bench/results/<name>-node-<major>.json (heap-series-part)

const { fork } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const path = require('node:path')
const { readFlags } = require('../support/flags')
const { save } = require('../support/results')

const given = { kind: 'leak-100', minutes: 60, rate: 40, speed: 10, save: 'heap-series-part' }
const { kind, minutes, rate, speed, save: name } = readFlags(given)
const EVERY_MS = 1000 / (rate * speed)
const ITEMS = Array.from({ length: 20 }, (_, i) => ({ name: `item ${i}`, price: i, tags: ['a', 'b', 'c'] }))
const BODY = JSON.stringify({ customer: 'a customer with a name', items: ITEMS })

async function main() {
  const child = fork(path.join(__dirname, 'server.js'), [kind, String(speed), String(rate)])
  const [{ port }] = await once(child, 'message')
  const samples = []
  const verdicts = []
  child.on('message', (/** @type {any} */ message) => {
    if (message.trend !== undefined) return verdicts.push(message.trend.verdict)
    const { ms, bytes, isMajor } = message
    samples.push([Math.round((ms * speed) / 1000), Math.round(bytes / 1000), isMajor ? 1 : 0])
  })
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 })
  const headers = { 'content-type': 'application/json', 'content-length': BODY.length }
  const send = (id) => {
    const options = { port, agent, headers, host: '127.0.0.1', method: 'POST', path: `/orders/${id}` }
    const request = http.request(options, (response) => response.resume())
    request.on('error', () => {})
    request.end(BODY)
  }
  const startedMs = performance.now()
  let sent = 0
  const load = setInterval(
    () => {
      for (; sent < (performance.now() - startedMs) / EVERY_MS; sent++) send(sent)
    },
    Math.max(1, EVERY_MS)
  )
  const ask = setInterval(() => child.send('trend'), 60_000 / speed)
  await new Promise((resolve) => setTimeout(resolve, (minutes / speed) * 60_000))
  clearInterval(load)
  clearInterval(ask)
  child.disconnect()
  agent.destroy()
  process.stdout.write(`${kind}: ${verdicts.join(' ')}\n`)
  process.stdout.write(`saved ${save(name, { kind, minutes, rate, speed, sent, verdicts, samples })}\n`)
}

main()
