'use strict'
// A story that is stopped leaves nothing behind: by Ctrl-C in a terminal that closes at once, and by a
// SIGTERM to npm, which ends only the shell between npm and the story. It needs a Postgres, as auth does.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { hasPostgres } = require('../../bench/healthy/postgres')
const { outsideTests } = require('../support/outside-tests')

const RUN = path.join(__dirname, '..', '..', 'examples', 'stories', 'run.js')
const skip = hasPostgres() ? false : 'no Postgres: npm ci --prefix examples/stories/auth/postgres'

/** The story, as npm starts it, as soon as its first run has begun. */
async function started(t) {
  const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-stopped-'))
  // Postgres runs as nobody if the tests run as root.
  fs.chmodSync(temporary, 0o755)
  const shell = spawn('sh', ['-c', `"${process.execPath}" "${RUN}" auth; :`], {
    detached: true,
    env: { ...outsideTests(), TMPDIR: temporary, npm_lifecycle_event: 'story' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.after(() => {
    if (shell.exitCode === null && shell.signalCode === null) process.kill(-Number(shell.pid), 'SIGKILL')
    fs.rmSync(temporary, { recursive: true, force: true, maxRetries: 10 })
  })
  let text = ''
  for await (const chunk of shell.stdout.iterator({ destroyOnReturn: false })) {
    text += chunk
    if (/^1\.0\.0: /m.test(text)) break
  }
  const left = () => fs.readdirSync(temporary).filter((name) => name.startsWith('spillway-'))
  assert.ok(
    left().some((name) => name.startsWith('spillway-postgres-')),
    text
  )
  shell.stdout.resume()
  return { shell, left }
}

test('Ctrl-C removes the database before the story ends', { skip }, async (t) => {
  const { shell, left } = await started(t)
  process.kill(-Number(shell.pid), 'SIGINT')
  await once(shell, 'exit')
  assert.deepEqual(left(), [])
})

test('without its shell the story ends by itself, and removes the database', { skip }, async (t) => {
  const { shell, left } = await started(t)
  shell.kill('SIGKILL')
  // Its output closes when the last process that writes to it has ended.
  await once(shell, 'close')
  assert.deepEqual(left(), [])
})
