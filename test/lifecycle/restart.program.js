'use strict'
// Restarted under load, nobody notices: clients that keep a connection each, and send a request again only
// when it was refused. Each restart comes when every client has been answered by the process that is to go.
// `npm run bench -- restart` adds clients that connect at any moment.

const assert = require('node:assert/strict')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const path = require('node:path')
const { test } = require('node:test')

const SERVER = path.join(__dirname, '..', '..', 'bench', 'restart', 'server.js')
const CLIENTS = 24
const RESTARTS = 3
const OPTIONS = { skip: process.platform === 'win32' && 'Windows has no signals' }

async function startServer(t, port) {
  const server = fork(SERVER, ['spillway', String(port), '60000'])
  t.after(() => server.kill('SIGKILL'))
  const [listening] = await once(server, 'message')
  return { server, port: listening }
}

function ask(port, agent) {
  return new Promise((resolve) => {
    const req = http.request({ host: '127.0.0.1', port, agent, method: 'POST' }, (res) => {
      res.on('error', (error) => resolve(error.code))
      res.resume().on('end', () => resolve(String(res.statusCode)))
    })
    req.on('error', (error) => resolve(error.code))
    req.end('body')
  })
}

test('SIGTERM under load on kept connections: no request fails', OPTIONS, async (t) => {
  const outcomes = new Map()
  const answered = new Array(CLIENTS).fill(0)
  let isOver = false
  let { server, port } = await startServer(t, 0)

  const client = async (index) => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    while (!isOver) {
      const outcome = await ask(port, agent)
      if (outcome !== 'ECONNREFUSED') outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      if (outcome === '200') answered[index]++
    }
    agent.destroy()
  }
  const untilAllAnswered = async (times) => {
    const before = [...answered]
    while (answered.some((count, index) => count < before[index] + times) && outcomes.size === 1)
      await new Promise((resolve) => setImmediate(resolve))
  }

  const clients = answered.map((_, index) => client(index))
  while (outcomes.size === 0) await new Promise((resolve) => setImmediate(resolve))
  const exits = []
  for (let i = 0; i < RESTARTS; i++) {
    await untilAllAnswered(3)
    const ended = once(server, 'exit')
    server.kill('SIGTERM')
    exits.push((await ended)[0])
    server = (await startServer(t, port)).server
  }
  await untilAllAnswered(3)
  isOver = true
  await Promise.all(clients)
  assert.deepEqual([...outcomes.keys()], ['200'])
  assert.deepEqual(exits, [0, 0, 0])
})
