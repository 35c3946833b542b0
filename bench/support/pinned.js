'use strict'
// Starts a server in a process of its own on a core of its own, and exchanges messages with it. The load is
// on the other core.

const { spawn, spawnSync } = require('node:child_process')
const { once } = require('node:events')

const SERVER_CORE = '0'
const LOAD_CORE = '1'
/**
 * For the CPU time of a request: threads that collect garbage spin while they wait, which on one core adds 6
 * to 10 µs by chance.
 */
const ONE_THREAD = ['--single-threaded-gc']
const canPin = spawnSync('taskset', ['-p', String(process.pid)]).status === 0

/** Moves this process, the load, to its core. */
function pinLoad() {
  if (!canPin) return
  spawnSync('taskset', ['-cp', LOAD_CORE, String(process.pid)])
  // For foreign.js.
  process.env.LOAD_CORE = LOAD_CORE
  process.env.SERVER_CORE = SERVER_CORE
}

const moveTo = (core, pid) => spawnSync('taskset', ['-acp', core, String(pid)])

/** Moves a process with all its threads to the load's core, as the primary of a server. */
function moveToLoadCore(pid = process.pid) {
  if (process.env.LOAD_CORE !== undefined) moveTo(LOAD_CORE, pid)
}

/**
 * Moves the main thread alone. Threads that write files and compile get the load's core, or they would delay
 * the loop by 2 to 5 ms.
 */
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

module.exports = { ONE_THREAD, moveToLoadCore, moveLoopToServerCore, pinLoad, startServer }
