'use strict'
// Starts a server of a benchmark as its own process on its own core, and talks to it: the load runs on the other.

const { spawn, spawnSync } = require('node:child_process')
const { once } = require('node:events')

const SERVER_CORE = '0'
const LOAD_CORE = '1'
/** For the CPU of a request. Threads that collect garbage wait for each other spinning: on one core that is 6 to 10 µs of chance. */
const ONE_THREAD = ['--single-threaded-gc']
const canPin = spawnSync('taskset', ['-p', String(process.pid)]).status === 0

/** Puts this process, the load, on its core. */
function pinLoad() {
  if (!canPin) return
  spawnSync('taskset', ['-cp', LOAD_CORE, String(process.pid)])
  // For foreign.js.
  process.env.LOAD_CORE = LOAD_CORE
  process.env.SERVER_CORE = SERVER_CORE
}

const moveTo = (core, pid) => spawnSync('taskset', ['-acp', core, String(pid)])

/** Puts a process, threads and all, where the load is: one that a server needs beside it. */
function moveToLoadCore(pid = process.pid) {
  if (process.env.LOAD_CORE !== undefined) moveTo(LOAD_CORE, pid)
}

/** Its main thread alone: those that write files and compile have the load's, or they would keep the loop waiting 2 to 5 ms. */
function moveLoopToServerCore(pid) {
  if (process.env.SERVER_CORE === undefined) return
  moveTo(LOAD_CORE, pid)
  spawnSync('taskset', ['-cp', SERVER_CORE, String(pid)])
}

async function startServer(script, args, { nodeArgs = [], stderr = 'inherit' } = {}) {
  const command = [
    ...(canPin ? ['taskset', '-c', SERVER_CORE] : []),
    process.execPath,
    ...nodeArgs,
    script,
    ...args,
  ]
  const env = { ...process.env, NODE_ENV: 'production' }
  const child = spawn(command[0], command.slice(1), { env, stdio: ['ignore', 'ignore', stderr, 'ipc'] })
  const gone = failed(child, args)
  // The end of the server is an error only while an answer is due.
  gone.catch(() => {})
  const [{ port }] = await Promise.race([once(child, 'message'), gone])
  return {
    port,
    /** @returns {Promise<any>} the server's answer to a question */
    async ask(question) {
      child.send(question)
      const [answer] = await Promise.race([once(child, 'message'), gone])
      return answer
    },
    async stop() {
      child.kill()
      await gone.catch(() => {})
    },
  }
}

async function failed(child, args) {
  const [code] = await once(child, 'exit')
  throw new Error(`the server ${args.join(' ')} ended with ${code}`)
}

module.exports = { ONE_THREAD, canPin, moveToLoadCore, moveLoopToServerCore, pinLoad, startServer }
