'use strict'
// Restarts a server by SIGTERM again and again under an open loop of requests on kept connections. The client sends a
// request again only if its connection was refused, which is the one failure that no server can have acted on.

const { fork } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')

const RETRY_MS = 10
const SETTLE_MS = 300
/** So that a server that is not there again is a failure, not a wait. */
const LONGEST_REFUSED_MS = 20_000
/** What a supervisor waits before it kills, as Docker does. */
const GRACE_MS = 10_000

/**
 * @param {{ how: 'spillway' | 'close' | 'nothing', restarts: number, ratePerSecond: number, connections: number, timeoutMs: number }} plan
 * @returns {Promise<{ outcomes: Record<string, number>, refused: number, exits: string[] }>} outcomes: by status or error code
 */
async function restartUnderLoad({ how, restarts, ratePerSecond, connections, timeoutMs }) {
  const outcomes = {}
  const exits = []
  let refused = 0
  let isOver = false
  const start = async (port) => {
    const server = fork(path.join(__dirname, 'restart-server.js'), [how, String(port), String(timeoutMs)])
    const [given] = await once(server, 'message')
    return { server, port: given }
  }
  let { server, port } = await start(0)
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections })

  const send = async (number) => {
    const endMs = performance.now() + LONGEST_REFUSED_MS
    let outcome = await ask({ port, agent, number })
    while (outcome === 'ECONNREFUSED' && performance.now() < endMs) {
      refused++
      await sleep(RETRY_MS)
      outcome = await ask({ port, agent, number })
    }
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
  }
  const load = async () => {
    const sent = []
    const beganMs = performance.now()
    while (!isOver) {
      while (sent.length < ((performance.now() - beganMs) / 1000) * ratePerSecond)
        sent.push(send(sent.length))
      await sleep(1)
    }
    await Promise.all(sent)
  }

  const loaded = load()
  try {
    for (let i = 0; i < restarts; i++) {
      await sleep(SETTLE_MS)
      const ended = once(server, 'exit')
      server.kill('SIGTERM')
      const impatience = setTimeout(() => server.kill('SIGKILL'), GRACE_MS)
      exits.push((await ended).filter((each) => each !== null).join())
      clearTimeout(impatience)
      server = (await start(port)).server
    }
    await sleep(SETTLE_MS)
    isOver = true
    await loaded
  } finally {
    isOver = true
    agent.destroy()
    server.kill('SIGKILL')
  }
  return { outcomes, refused, exits }
}

/** One request in five is a POST, which nobody may send twice. */
function ask({ port, agent, number }) {
  const isPost = number % 5 === 0
  return new Promise((resolve) => {
    const req = http.request({ host: '127.0.0.1', port, agent, method: isPost ? 'POST' : 'GET' }, (res) => {
      res.on('error', (error) => resolve(error.code))
      res.resume().on('end', () => resolve(String(res.statusCode)))
    })
    req.on('error', (error) => resolve(error.code))
    req.end(isPost ? Buffer.alloc(1000) : undefined)
  })
}

module.exports = { restartUnderLoad }
