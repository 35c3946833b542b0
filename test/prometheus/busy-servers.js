'use strict'
// Starts busy-server.js, and asks Prometheus until every expression has had an answer.

const { fork } = require('node:child_process')
const { once } = require('node:events')
const { join } = require('node:path')

const SCRAPES = 6
/**
 * How often all that had no answer is asked for once more, each time after another scrape: an alert waits for
 * its rate.
 */
const LOOKS = 30

/**
 * @param {import('node:test').TestContext} t
 * @param {string[]} args
 * @param {Record<string, string>} [env]
 * @returns {Promise<number>} its port
 */
async function startBusyServer(t, args, env = {}) {
  const server = fork(join(__dirname, 'busy-server.js'), args, {
    execArgv: ['--expose-gc'],
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  t.after(async () => {
    if (server.exitCode !== null) return
    server.kill()
    await once(server, 'exit')
  })
  const [{ port }] = await once(server, 'message')
  return port
}

/** @returns {Promise<[string, string][]>} the expressions that never had an answer */
async function answered(prometheus, expressions) {
  let unanswered = expressions
  for (let looks = 0; unanswered.length > 0 && looks < LOOKS; looks++) {
    await prometheus.scraped(SCRAPES + looks)
    const answers = await Promise.all(unanswered.map(([, expression]) => prometheus.query(expression)))
    unanswered = unanswered.filter((_, at) => answers[at].length === 0)
  }
  return unanswered
}

module.exports = { answered, startBusyServer }
