'use strict'
// The package as a user has it: unpacked from its tarball into an empty folder, beside exactly the
// dependencies it declares. What it needs and does not declare, or does not ship, is missing here.

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { dirname, join } = require('node:path')
const { after, before, test } = require('node:test')
const { promisify } = require('node:util')
const { dependencies, version } = require('../../package.json')
const { outsideTests } = require('../support/outside-tests')
const { ROOT, pack } = require('./pack.js')

const run = promisify(execFile)
// Without what the npm that started this test was told: `npx -p node@24` would ask for that package again.
const NPM_ENV = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'))),
  npm_config_update_notifier: 'false',
}

let folder
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'spillway-'))
  const { filename } = await pack('--pack-destination', folder)
  const unpacked = join(folder, 'node_modules', 'spillway')
  mkdirSync(unpacked, { recursive: true })
  await run('tar', ['-xzf', filename, '-C', unpacked, '--strip-components=1'], { cwd: folder })
  for (const name of [...Object.keys(dependencies), 'express', '@types/node']) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), link, 'junction')
  }
})
after(() => rmSync(folder, { recursive: true, force: true }))

// It never closes the instance: nothing of it may keep the process alive.
const PROGRAM = `
const spillway = createSpillway()
const app = express()
app.use(spillway.express())
app.get('/users/:id', (req, res) => res.json({ id: req.params.id }))
app.use(spillway.errorHandler())
const server = app.listen(0, '127.0.0.1', async () => {
  spillway.attach(server)
  const url = 'http://127.0.0.1:' + server.address().port
  await (await fetch(url + '/users/7')).text()
  const answer = await fetch(url + '/metrics')
  process.stdout.write(answer.status + '\\n' + (await answer.text()))
  server.close()
  server.closeAllConnections()
})
`
const SERIES =
  'http_server_request_duration_seconds_count{http_request_method="GET",http_route="/users/:id",http_response_status_code="200",url_scheme="http"} 1'

const PROGRAMS = {
  'program.cjs': `const express = require('express')\nconst { createSpillway } = require('spillway')\n${PROGRAM}`,
  'program.mjs': `import express from 'express'\nimport { createSpillway } from 'spillway'\n${PROGRAM}`,
}

for (const [name, source] of Object.entries(PROGRAMS)) {
  test(`${name} measures an Express app, shows it under /metrics, and exits by itself`, async () => {
    writeFileSync(join(folder, name), source)
    const { stdout, stderr } = await run(process.execPath, ['--throw-deprecation', name], {
      cwd: folder,
    })
    assert.equal(stderr, '')
    assert.ok(stdout.startsWith('200\n# HELP '), stdout)
    assert.ok(stdout.split('\n').includes(SERIES), stdout)
  })
}

// An application that knows nothing of spillway.
const UNCHANGED = `
const http = require('node:http')
const server = http.createServer((req, res) => res.end('hello')).listen(0, '127.0.0.1', () => {
  const { port } = server.address()
  http.get({ port, agent: false }, (res) => res.resume().on('end', () => server.close()))
})
`

for (const flag of ['--import', '--require']) {
  test(`${flag} spillway/register says where the admin server is, and the program exits by itself`, async () => {
    writeFileSync(join(folder, 'unchanged.cjs'), UNCHANGED)
    const { stdout, stderr } = await run(process.execPath, [flag, 'spillway/register', 'unchanged.cjs'], {
      cwd: folder,
      env: outsideTests({ SPILLWAY_ADMIN_PORT: '0', SPILLWAY_INSIGHT_STALLS: 'false' }),
    })
    assert.equal(stdout, '')
    assert.match(
      JSON.parse(stderr).msg,
      /^spillway: admin server at http:\/\/127\.0\.0\.1:\d+\. Port \d+ is measured/
    )
  })
}

// npm makes the links of its programs when it installs or rebuilds a package.
test('npx runs the program of the tarball', async () => {
  const npm = (...args) =>
    run(args[0], args.slice(1), { cwd: folder, env: NPM_ENV, shell: process.platform === 'win32' })
  await npm('npm', 'rebuild', '--offline', '--ignore-scripts', 'spillway')
  const { stdout, stderr } = await npm('npx', '--no-install', 'spillway', '--version')
  assert.deepEqual([stdout, stderr], [`${version}\n`, ''])
  const refused = await npm('npx', '--no-install', 'spillway', 'doctor', '1').catch((error) => error)
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /^spillway: http:\/\/127\.0\.0\.1:1 does not listen/)
})

const TYPED = `
const spillway: Spillway = createSpillway({ routes: { max: 10 } })
const server: http.Server = spillway.attach(http.createServer(spillway.wrap((req, res) => res.end(req.url))))
try {
  spillway.handler('live')
} catch (error) {
  if (error instanceof SpillwayError && error.code === 'ERR_SPILLWAY_UNKNOWN_HANDLER') server.close()
}
// @ts-expect-error the types are found, and say no
spillway.handler('status')
`
const NAMED = "import { createSpillway, type Spillway, SpillwayError } from 'spillway'"
const BY_REQUIRE =
  "import spillwayPackage = require('spillway')\nimport { createSpillway, SpillwayError } from 'spillway'\n" +
  'type Spillway = ReturnType<typeof spillwayPackage.createSpillway>'

const COMPILATIONS = {
  'a CommonJS program': ['typed.cts', `import http = require('http')\n${BY_REQUIRE}`, ['--module', 'node16']],
  'an ESM program': ['typed.mts', `import http from 'http'\n${NAMED}`, ['--module', 'nodenext']],
  'a bundled program': [
    'typed.ts',
    `import * as http from 'http'\n${NAMED}`,
    ['--module', 'esnext', '--moduleResolution', 'bundler'],
  ],
}

for (const [what, [name, head, flags]] of Object.entries(COMPILATIONS)) {
  test(`${what} compiles strictly without the types of Express or Koa`, async () => {
    writeFileSync(join(folder, name), head + TYPED)
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
    const strict = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      'false',
      '--target',
      'es2022',
      '--types',
      'node',
    ]
    const { stdout } = await run(process.execPath, [compiler, ...strict, ...flags, name], {
      cwd: folder,
    }).catch((error) => error)
    assert.equal(stdout, '')
  })
}
