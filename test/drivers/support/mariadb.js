'use strict'
// A MariaDB for one test file or bench.

const fs = require('node:fs')
const path = require('node:path')
const { host, startServer } = require('../../../bench/support/database-server')

/** Debian has the server where the PATH of a user does not look. */
const FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/usr/bin']
const DATABASE = 'orders'
/** Small files: they are written anew for each test file. */
const SIZE = [
  '--innodb-buffer-pool-size=16M',
  '--innodb-log-file-size=4M',
  '--innodb-flush-log-at-trx-commit=0',
]

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

/** @param {import('../../../bench/support/database-server').Host} host */
function prepare({ folder, port, password, write, run }) {
  const users = `create database ${DATABASE};
create user bench@'127.0.0.1' identified by '${password}';
grant all on *.* to bench@'127.0.0.1';
`
  const init = write('init.sql', users)
  const common = ['--no-defaults', `--datadir=${path.join(folder, 'data')}`, ...SIZE]
  const root = ['--skip-test-db', '--auth-root-authentication-method=normal']
  run(String(find('mariadb-install-db')), [...common, ...root])
  const args = [
    ...common,
    `--socket=${path.join(folder, 'socket')}`,
    `--pid-file=${path.join(folder, 'pid')}`,
    `--init-file=${init}`,
    '--bind-address=127.0.0.1',
    `--port=${port}`,
    '--skip-name-resolve',
    '--skip-log-bin',
    '--max-connections=400',
  ]
  const url = `mysql://bench:${password}@127.0.0.1:${port}/${DATABASE}`
  return { program: String(find('mariadbd')), args, url }
}

const startMariadb = () => startServer(__filename)

if (require.main === module)
  // Nobody reads its data afterwards, so it need not write them.
  host({ name: 'mariadb', signal: 'SIGKILL', ready: 'ready for connections', prepare })

module.exports = { isMissing, startMariadb }
