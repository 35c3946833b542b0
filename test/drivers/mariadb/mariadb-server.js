// A MariaDB for one test file or bench, on 127.0.0.1, with a free port, a random password and a temporary folder.
// A process between the test and MariaDB stops MariaDB and removes the folder, however the test ends. As root,
// MariaDB runs as the user nobody.

const { execFileSync, fork, spawn } = require('node:child_process')
const { randomBytes } = require('node:crypto')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')

/** Debian has the server where the PATH of a user does not look. */
const FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/usr/bin']
const START_MS = 30_000
const DATABASE = 'orders'

/** @param {string} name */
function find(name) {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), ...FOLDERS]
  return folders.map((folder) => path.join(folder, name)).find((file) => fs.existsSync(file))
}

/** Why the tests cannot run here, or false. */
function isMissing() {
  const missing = ['mariadbd', 'mariadb-install-db'].filter((name) => find(name) === undefined)
  return (
    missing.length > 0 &&
    `needs ${missing.join(' and ')}, such as by apt-get install --no-install-recommends mariadb-server`
  )
}

const idOf = (flag) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (server.address())
  server.close()
  await once(server, 'close')
  return port
}

/** The server says so on its standard error. @param {import('node:stream').Readable} stderr */
async function isReady(stderr) {
  let text = ''
  for await (const chunk of stderr.iterator({ destroyOnReturn: false })) {
    text += chunk
    if (text.includes('ready for connections')) return
  }
  throw new Error(`MariaDB has not started: ${text}`)
}

async function runMariadb() {
  const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {}
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-mariadb-'))
  let child
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  // Its data is of no use to anybody, so it need not write them.
  const end = () => child?.kill('SIGKILL') || process.exit()
  for (const signal of ['SIGINT', 'SIGTERM', 'disconnect']) process.on(signal, end)

  const password = randomBytes(16).toString('hex')
  const init = path.join(folder, 'init.sql')
  fs.writeFileSync(
    init,
    `create database ${DATABASE};
create user bench@'127.0.0.1' identified by '${password}';
grant all on *.* to bench@'127.0.0.1';
`,
    { mode: 0o600 }
  )
  if (user.uid !== undefined) for (const file of [folder, init]) fs.chownSync(file, user.uid, user.gid)
  const data = path.join(folder, 'data')
  const settings = { cwd: folder, env: { ...process.env, HOME: folder }, ...user }
  // Small files: they are written anew for each test file.
  const size = [
    '--innodb-buffer-pool-size=16M',
    '--innodb-log-file-size=4M',
    '--innodb-flush-log-at-trx-commit=0',
  ]
  execFileSync(
    String(find('mariadb-install-db')),
    [
      '--no-defaults',
      `--datadir=${data}`,
      '--skip-test-db',
      '--auth-root-authentication-method=normal',
      ...size,
    ],
    { ...settings, stdio: 'ignore' }
  )
  const port = await freePort()
  child = spawn(
    String(find('mariadbd')),
    [
      '--no-defaults',
      `--datadir=${data}`,
      `--socket=${path.join(folder, 'socket')}`,
      `--pid-file=${path.join(folder, 'pid')}`,
      `--init-file=${init}`,
      '--bind-address=127.0.0.1',
      `--port=${port}`,
      '--skip-name-resolve',
      '--skip-log-bin',
      '--max-connections=400',
      ...size,
    ],
    { ...settings, stdio: ['ignore', 'ignore', 'pipe'] }
  )
  child.on('exit', () => process.exit(1))
  await isReady(child.stderr)
  child.stderr.resume()
  process.send?.({ url: `mysql://bench:${password}@127.0.0.1:${port}/${DATABASE}` })
}

/** @returns {Promise<{ url: string, stop: () => Promise<void> }>} */
async function startMariadb() {
  // In a session of its own: a terminal that closes after Ctrl-C would end it before the folder is removed.
  const child = fork(__filename, [], { detached: true, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const gone = once(child, 'exit')
  const [given] = await Promise.race([
    once(child, 'message', { signal: AbortSignal.timeout(START_MS) }),
    gone.then(() => []),
  ])
  if (given === undefined) throw new Error('MariaDB has not started')
  return {
    url: given.url,
    async stop() {
      child.kill()
      await gone
    },
  }
}

if (require.main === module) {
  runMariadb().catch((error) => {
    console.error(error)
    process.exit(1)
  })
}

module.exports = { isMissing, startMariadb }
