'use strict'
// `npm run bench`: what it lists exists and explains itself, and a wrong name or flag measures nothing.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const { BENCHES } = require('../../bench/benches')
const { benchesTable } = require('../../bench/tables/benches')

const BENCH = path.join(__dirname, '..', '..', 'bench')
/** Folders of what the benches share. */
const SHARED = ['peers', 'results', 'support', 'tables']
const names = BENCHES.map(({ name }) => name)

const run = (...args) => runFile(path.join(BENCH, 'run.js'), ...args)

const runFile = (...args) => runIn(process.env, ...args)

async function runIn(env, ...args) {
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (data) => (stdout += data))
  child.stderr.on('data', (data) => (stderr += data))
  const [code] = await once(child, 'close')
  return { code, stdout, stderr }
}

test('each folder is a listed bench, or shared by all', () => {
  const folders = fs.readdirSync(BENCH, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  assert.deepEqual(folders.map(({ name }) => name).sort(), [...names, ...SHARED].sort())
})

test('without a name, every bench is listed', async () => {
  const { code, stdout } = await run()
  assert.equal(code, 0)
  for (const name of [...names, 'tables']) assert.match(stdout, new RegExp(`^${name} `, 'm'))
})

test('--help of each bench is a usage and what the bench does', async () => {
  const helps = [...names, 'tables'].map(async (name) => {
    const { code, stdout, stderr } = await runFile(path.join(BENCH, name), '--help')
    assert.deepEqual([name, code, stderr], [name, 0, ''])
    assert.ok(stdout.startsWith(`npm run bench -- ${name}`), stdout)
    assert.ok(stdout.split('\n').length > 4, stdout)
  })
  await Promise.all(helps)
})

test('an unknown name gets the nearest name', async () => {
  const { code, stdout, stderr } = await run('overlod')
  assert.deepEqual([code, stdout], [2, ''])
  assert.match(stderr, /no bench 'overlod'. Did you mean 'overload'\?/)
})

for (const [what, args, message] of [
  ['flag', ['overhead', '--conections', '1'], /no flag --conections. Did you mean '--connections'\?/],
  ['value', ['pools', '--driver', 'pgg'], /--driver has no 'pgg'. Did you mean 'pg'\?/],
  ['value of a list', ['overhead', '--variants', 'flor'], /--variants has no 'flor'. Did you mean 'floor'\?/],
  ['number', ['overhead', '--starts', 'few'], /--starts takes a number, not 'few'/],
  ['argument', ['overhead', 'floor'], /Unexpected argument 'floor'/],
  ['Node', ['overhead', '--node', path.join(BENCH, 'none')], /--node takes the path of a node binary/],
]) {
  test(`an unknown ${what} ends the bench before it measures`, async () => {
    const { code, stdout, stderr } = await run(...args)
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, message)
  })
}

test('a driver or a server that is not installed is one sentence', async () => {
  const env = { ...process.env, PATH: BENCH }
  const { code, stdout, stderr } = await runIn(env, path.join(BENCH, 'pools'), '--driver', 'redis')
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /^The driver redis (is not installed: run npm ci .+|needs redis-server .+)\n$/)
})

test('--node runs the bench with another binary, and is no flag of the bench', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-bench-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  const node = path.join(folder, 'node')
  fs.writeFileSync(node, '#!/bin/sh\necho "$@"\nexit 3\n', { mode: 0o755 })
  for (const args of [['--node', node], [`--node=${node}`]]) {
    const { code, stdout } = await run('soak', '--requests', '10', ...args, '--seed', '1')
    assert.equal(stdout, `--expose-gc ${path.join(BENCH, 'soak')} --requests 10 --seed 1\n`)
    assert.equal(code, 3)
  }
})

test('bench/README.md has the table of the benches', () => {
  assert.ok(
    fs.readFileSync(path.join(BENCH, 'README.md'), 'utf8').includes(`\n${benchesTable()}\n`),
    'npm run bench -- tables'
  )
})

for (const [script, file] of [
  ['fuzz', 'test/fuzz/run.js'],
  ['worlds', 'test/simulation/run.js'],
  ['transparency', 'test/transparency/run.js'],
  ['dashboard', 'examples/grafana/dashboard.js'],
]) {
  test(`npm run ${script} -- --help explains itself and does nothing else`, async () => {
    const { code, stdout, stderr } = await runFile(path.join(BENCH, '..', file), '--help')
    assert.deepEqual([code, stderr], [0, ''])
    assert.ok(stdout.startsWith(`npm run ${script}`), stdout)
  })
}
