'use strict'
// Runs `spillway` in a process of its own with pipes, and starts the service that it looks at.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { outsideTests } = require('../support/outside-tests')

const PROGRAM = path.join(__dirname, '../../src/cli/executable.js')
const SERVICE = path.join(__dirname, 'service.js')

/** An environment in which nothing says where to ask, or how. */
function plainEnv(more) {
  const { NO_COLOR, FORCE_COLOR, SPILLWAY_ADMIN_URL, SPILLWAY_ADMIN_TOKEN, ...env } = outsideTests()
  return { ...env, ...more }
}

/**
 * @param {readonly (string | number)[]} args
 * @param {{ env?: object, cwd?: string }} [options]
 * @returns {Promise<{ code: number | null, signal: string | null, out: string, err: string }>}
 */
async function runProgram(args, { env, cwd } = {}) {
  const child = spawn(process.execPath, [PROGRAM, ...args.map(String)], {
    env: plainEnv(env),
    ...(cwd !== undefined && { cwd }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (piece) => {
    out += piece
  })
  child.stderr.setEncoding('utf8').on('data', (piece) => {
    err += piece
  })
  const [code, signal] = await once(child, 'close')
  return { code, signal, out, err }
}

/**
 * @param {{ after: (end: () => void) => void }} t ends the service
 * @param {object} [env]
 */
async function startService(t, env) {
  const child = spawn(process.execPath, [SERVICE], {
    env: plainEnv(env),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const [line] = await once(child.stdout, 'data')
  const { app, admin } = JSON.parse(String(line))
  return {
    admin,
    appUrl: `http://127.0.0.1:${app}`,
    adminUrl: `http://127.0.0.1:${admin}`,
    kill: () => child.kill('SIGKILL'),
    /** Sends requests one after the other, and reads the answers. */
    async get(route, times = 1) {
      for (let i = 0; i < times; i++) await (await fetch(`http://127.0.0.1:${app}${route}`)).text()
    },
  }
}

module.exports = { PROGRAM, plainEnv, runProgram, startService }
