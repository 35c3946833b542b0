'use strict'
// The application's own pino-pretty, here a few lines in its place: where it is found, and what becomes of
// one that fails.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { mkdirSync, mkdtempSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const { prettyFormat } = require('../../src/core/log/own-logger')
const { outsideTests } = require('../support/outside-tests')

const INDEX = path.join(__dirname, '..', '..', 'src', 'index.js')
const LINE = '{"level":40,"time":0,"pid":1,"msg":"careful"}\n'
const TODAYS =
  "exports.prettyFactory = ({ ignore }) => (line) => 'PRETTY ' + JSON.parse(line).msg + ' without ' + ignore.split(',')[1] + '\\n'"

/** A folder of an application that has it, or has not; gives a file in it. */
function application(t, source) {
  const folder = mkdtempSync(path.join(tmpdir(), 'spillway-pretty-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  if (source !== undefined) {
    const installed = path.join(folder, 'node_modules', 'pino-pretty')
    mkdirSync(installed, { recursive: true })
    writeFileSync(path.join(installed, 'index.js'), source)
  }
  return path.join(folder, 'server.js')
}

const onTerminal = (...from) => prettyFormat({ isTerminal: true, from })

test('on a terminal pino-pretty formats the lines', (t) => {
  assert.equal(onTerminal(application(t, TODAYS))?.(LINE), 'PRETTY careful without hostname\n')
})

test('for people without it a line is its sentence alone; with an error it stays whole', () => {
  const format = prettyFormat({ isTerminal: true, from: [], isPlain: true })
  assert.equal(format?.(LINE), 'careful\n')
  const failed = '{"level":50,"msg":"failed","err":{"stack":"Error: x"}}\n'
  assert.equal(format?.(failed), failed)
  assert.equal(format?.('no JSON'), 'no JSON')
  assert.equal(prettyFormat({ isTerminal: false, from: [], isPlain: true }), undefined)
})

test('in a pipe pino-pretty is not resolved', (t) => {
  const file = application(t, "throw new Error('loaded')")
  assert.equal(prettyFormat({ isTerminal: false, from: [file] }), undefined)
})

test('the second place is tried if the first has no pino-pretty', (t) => {
  const [none, some] = [application(t), application(t, TODAYS)]
  assert.match(onTerminal(none, some)?.(LINE) ?? '', /^PRETTY/)
  assert.equal(onTerminal(none, none), undefined)
})

test('pino-pretty before version 7 is the function itself', (t) => {
  assert.equal(onTerminal(application(t, "module.exports = () => () => 'old\\n'"))?.(LINE), 'old\n')
})

for (const [what, source] of [
  ['cannot be loaded', "throw new Error('broken')"],
  ['has another shape', 'module.exports = { format: true }'],
  ['gives no text', 'exports.prettyFactory = () => () => ({})'],
  ['fails when it is made', "exports.prettyFactory = () => { throw new Error('no options') }"],
]) {
  test(`one that ${what} leaves lines of JSON, without a word`, (t) => {
    assert.equal(onTerminal(application(t, source)), undefined)
  })
}

test('a line that pino-pretty fails on is written as JSON, and a line that it omits is omitted', (t) => {
  const source = `exports.prettyFactory = () => (line) => {
    const { msg } = JSON.parse(line)
    if (msg === 'careful') throw new Error('no')
    if (msg === 'a line') return ''
  }`
  const format = onTerminal(application(t, source))
  assert.equal(format?.(LINE), LINE)
  assert.equal(format?.('{"msg":"hidden"}\n'), '')
})

const SERVER = `
  const spillway = require(${JSON.stringify(INDEX)}).createSpillway({ log: { access: true }, insight: false })
  spillway.drain()
`
const hasScript = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0

test('a server that has it: pretty on a terminal to the last line, JSON in a pipe', {
  skip: !hasScript,
}, (t) => {
  const file = application(t, TODAYS)
  writeFileSync(file, SERVER)
  const command = `"${process.execPath}" "${file}"`
  const options = /** @type {const} */ ({ encoding: 'utf8', env: outsideTests() })
  const onScreen = spawnSync('script', ['-qec', command, '/dev/null'], options)
  assert.match(onScreen.stdout, /^PRETTY spillway: draining.*\r\nPRETTY spillway: drained.*\r\n$/)
  const inPipe = spawnSync(process.execPath, [file], options)
  const messages = inPipe.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).msg)
  assert.deepEqual(messages, ['spillway: draining (drain)', 'spillway: drained'])
})
