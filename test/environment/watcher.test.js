'use strict'
// How a watcher is found: by variables, by the script that npm runs, and by the commands of the process and
// its parents.

const assert = require('node:assert/strict')
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const { commandsOf, findWatcher } = require('../../src/core/environment/watcher')
const { startProgram } = require('../support/program')

const NODE = '/usr/bin/node'

for (const [command, expected] of [
  [`${NODE} /app/node_modules/.bin/nodemon server.js`, 'nodemon'],
  [`${NODE} /app/node_modules/nodemon/bin/nodemon.js`, 'nodemon'],
  ['nodemon', 'nodemon'],
  [`${NODE} /app/node_modules/.bin/tsx watch src/server.ts`, 'tsx watch'],
  [`${NODE} /app/node_modules/tsx/dist/cli.mjs watch src/server.ts`, 'tsx watch'],
  ['tsx watch --clear-screen=false src/server.ts', 'tsx watch'],
  [`${NODE} /app/node_modules/.bin/ts-node-dev --respawn server.ts`, 'ts-node-dev'],
  [`${NODE} /app/node_modules/.bin/vite-node -w server.ts`, 'vite-node'],
  [`${NODE} /app/node_modules/.bin/nest start --watch`, '--watch'],
  [`${NODE} --watch server.js`, '--watch'],
  [`${NODE} --watch-path=./src server.js`, '--watch'],
  [`${NODE} /app/node_modules/.bin/tsx src/server.ts`, ''],
  [`${NODE} /app/node_modules/.bin/tsx src/watch.ts watch`, ''],
  [`${NODE} /srv/watch/server.js`, ''],
  [`${NODE} --watch-kill-signal=SIGTERM --test-timeout=0 app.test.js`, ''],
  [`${NODE} /srv/nodemon-free/server.js --watchdog`, ''],
  ['PM2 v7.0.1: God Daemon (/home/app/.pm2)', ''],
  ['', ''],
]) {
  test(`${command || 'nothing'}: ${expected || 'no watcher'}`, () => {
    assert.equal(
      findWatcher({}, () => ['node server.js', command]),
      expected
    )
    assert.equal(
      findWatcher({ npm_lifecycle_script: command }, () => []),
      expected
    )
  })
}

test('`node --watch` says so in a variable, and nothing else is read', () => {
  const never = () => assert.fail('read')
  assert.equal(findWatcher({ WATCH_REPORT_DEPENDENCIES: '1' }, never), 'node --watch')
})

test('of the table of ps the commands of the process and its parents are taken, in that order', () => {
  const table =
    '    1     0 /sbin/launchd\n  200     1 -zsh\n  300   200 node tsx watch a.ts\n  301   200 vim\n  400   300 node a.ts\n'
  assert.deepEqual([...commandsOf(table, 400)], ['node a.ts', 'node tsx watch a.ts', '-zsh', '/sbin/launchd'])
  assert.deepEqual([...commandsOf('  5 5 itself\n', 5)].at(0), 'itself')
  assert.deepEqual([...commandsOf('', 5)], [])
})

test('a parent is found by its command', { skip: process.platform === 'win32' }, async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'spillway-watcher-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'nodemon.js')
  const source = path.join(__dirname, '..', '..', 'src', 'core', 'environment', 'watcher.js')
  const lines = `console.log('found ' + require(${JSON.stringify(source)}).watcher())`
  // A shell in between, as nodemon has.
  writeFileSync(
    file,
    `require('node:child_process').spawn('sh', ['-c', '"$0" -e "$LINES"; true', process.execPath], { stdio: 'inherit', env: { ...process.env, LINES: ${JSON.stringify(lines)} } })`
  )
  const { until } = startProgram(undefined, { t, file })
  assert.equal((await until(/found (.*)\n/))[1], 'nodemon')
})
