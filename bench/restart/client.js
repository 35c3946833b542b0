'use strict'
// An open loop of requests on kept connections. A request is sent again only if its connection was refused:
// that is the only failure after which no server can have acted on it. A fifth of the requests are POSTs,
// which nobody may send twice.

const http = require('node:http')
const { setTimeout: sleep } = require('node:timers/promises')

const RETRY_MS = 10
/** So that a server that is not there again is a failure, not a wait. */
const LONGEST_REFUSED_MS = 60_000

/**
 * @param {{ port: number, ratePerSecond: number, connections: number, isOneEach?: boolean }} plan with
 *   `isOneEach` what is due waits until a connection has been answered, so that none is opened at the moment
 *   at which a server stops listening
 * @returns {{ whenConnected: Promise<void>, stop: () => Promise<{ outcomes: Record<string, number>,
 *   refused: number }> }}
 *   `whenConnected` is settled once each connection has been answered; outcomes are by status or error code. With random
 *   connections (without `isOneEach`) some may never be used.
 */
function startLoad({ port, ratePerSecond, connections, isOneEach = false }) {
  // An agent for each connection: an agent with several sockets keeps requests waiting for seconds after
  // refused connections.
  const agents = Array.from(
    { length: connections },
    () => new http.Agent({ keepAlive: true, maxFreeSockets: 1 })
  )
  const unused = [...agents]
  const unanswered = new Set(agents)
  let settleConnected = () => {}
  /** @type {Promise<void>} */
  const whenConnected = new Promise((resolve) => (settleConnected = resolve))
  const outcomes = {}
  let refused = 0
  let isOver = false

  const send = async (number) => {
    const endMs = performance.now() + LONGEST_REFUSED_MS
    const agent = isOneEach ? unused.shift() : agents[Math.floor(Math.random() * connections)]
    let outcome = await ask({ port, agent, number })
    while (outcome === 'ECONNREFUSED' && performance.now() < endMs) {
      refused++
      await sleep(RETRY_MS)
      outcome = await ask({ port, agent, number })
    }
    if (isOneEach) unused.push(agent)
    if (unanswered.delete(agent) && unanswered.size === 0) settleConnected()
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
  }
  const run = async () => {
    const sent = []
    const beganMs = performance.now()
    while (!isOver) {
      const due = ((performance.now() - beganMs) / 1000) * ratePerSecond
      while (sent.length < due && (!isOneEach || unused.length > 0)) sent.push(send(sent.length))
      await sleep(1)
    }
    await Promise.all(sent)
    for (const agent of agents) agent.destroy()
    return { outcomes, refused }
  }

  const done = run()
  const stop = () => {
    isOver = true
    return done
  }
  return { whenConnected, stop }
}

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

module.exports = { startLoad }
