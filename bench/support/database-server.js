'use strict'
// A database server for one bench, story or test file, on 127.0.0.1, with a free port, a random password and a
// temporary folder. A process between the bench and the server stops the server and removes the folder,
// however the bench ends. As root, the server runs as the user nobody: Postgres refuses to run as root.

const { execFileSync, fork, spawn } = require('node:child_process')
const { randomBytes } = require('node:crypto')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { freePort } = require('./free-port')

const START_MS = 30_000

const idOf = (flag) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))

/**
 * @typedef {{ uid?: number, gid?: number }} User
 * @typedef {object} Host
 * @property {string} folder that only the user of the server may read
 * @property {User} user
 * @property {number} port
 * @property {string} password
 * @property {(name: string, text: string) => string} write a file into the folder, and returns its path
 * @property {(program: string, args: string[]) => void} run a program to its end
 * @typedef {object} Server
 * @property {string} name
 * @property {NodeJS.Signals} signal ends it at once, without writing what nobody will read
 * @property {string} ready part of the line on its standard error that says that it accepts connections
 * @property {(host: Host) => { program: string, args: string[], url: string }} prepare
 */

/** In the process between: starts the server, and sends its address. @param {Server} server */
async function host(server) {
  try {
    await run(server)
  } catch (error) {
    process.stderr.write(`${server.name} has not started: ${error.message}\n`)
    process.exit(1)
  }
}

/** @param {Server} server */
async function run({ name, signal, ready, prepare }) {
  const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {}
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `spillway-${name}-`))
  /** @type {import('node:child_process').ChildProcess | undefined} */
  let child
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  const end = () => child?.kill(signal) || process.exit(1)
  for (const event of ['SIGINT', 'SIGTERM', 'disconnect']) process.on(event, end)
  const late = setTimeout(end, START_MS)

  const own = (file) => user.uid !== undefined && fs.chownSync(file, user.uid, user.gid)
  own(folder)
  // Lines are compared with `ready`, so they are in English.
  const settings = { cwd: folder, env: { ...process.env, HOME: folder, LC_ALL: 'C' }, ...user }
  const { program, args, url } = prepare({
    folder,
    user,
    port: await freePort(),
    password: randomBytes(16).toString('hex'),
    write(file, text) {
      const whole = path.join(folder, file)
      fs.writeFileSync(whole, text, { mode: 0o600 })
      own(whole)
      return whole
    },
    run: (file, flags) => void execFileSync(file, flags, { ...settings, stdio: 'ignore' }),
  })
  child = spawn(program, args, { ...settings, stdio: ['ignore', 'ignore', 'pipe'] })
  child.on('exit', () => process.exit(1))
  await untilSays(child.stderr, ready)
  clearTimeout(late)
  process.send?.({ url })
}

/** Reads a stream until it has a text, and then without looking at it. @param {any} stream */
async function untilSays(stream, text) {
  let said = ''
  for await (const piece of stream.iterator({ destroyOnReturn: false })) {
    said += piece
    if (said.includes(text)) return void stream.resume()
  }
  throw new Error(`It has ended without saying '${text}': ${said}`)
}

/**
 * @param {string} file calls `host` if it is the main module
 * @returns {Promise<{ url: string, stop: () => Promise<void> } | undefined>} undefined if it has not started
 */
async function startServer(file) {
  // In a session of its own: a terminal that closes after Ctrl-C would end it before the folder is removed.
  const child = fork(file, [], { detached: true, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const gone = once(child, 'exit')
  const [given] = await Promise.race([once(child, 'message'), gone.then(() => [])])
  if (given === undefined) return undefined
  return {
    url: given.url,
    async stop() {
      child.kill()
      await gone
    },
  }
}

module.exports = { host, startServer, untilSays }
