'use strict'
// The figures of a release in its file, whichever way the process ends.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const { startProgram } = require('../support/program')

function folder(t) {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-'))
  t.after(() => fs.rmSync(made, { recursive: true }))
  return made
}

const PROGRAM = `
  const { createSpillway } = require('./src/index.js')
  const spillway = createSpillway({ release: { file: process.env.FILE, version: process.env.VERSION } })
  const listener = (req, res) => (req.url === '/fails' ? res.writeHead(500).end() : res.end())
  const server = require('node:http').createServer(spillway.wrap(listener))
  server.listen(0, '127.0.0.1', async () => {
    for (const path of ['/a', '/fails'])
      await fetch('http://127.0.0.1:' + server.address().port + path).then((answer) => answer.text())
    while (spillway.snapshot().requests.sinceStart.count < 2) await new Promise(setImmediate)
    console.log(JSON.stringify(spillway.snapshot().releases))
    HOW
  })`

for (const [how, last] of Object.entries({
  'process.exit()': 'process.exit(0)',
  'an exception nobody caught':
    "process.on('uncaughtException', () => process.exit(1)); throw new Error('as it should')",
  'a drain': 'spillway.drain({ delay: 0, timeout: 100 }).then(() => process.exit(0))',
})) {
  test(`the figures of a release survive ${how}, and are compared route by route`, async (t) => {
    const FILE = path.join(folder(t), 'releases.json')
    const run = async (VERSION) => {
      const program = startProgram(PROGRAM.replace('HOW', last), { t, env: { FILE, VERSION } })
      await program.closed
      return JSON.parse(program.told().match(/^\{"current".*$/m)[0])
    }
    const first = await run('1')
    assert.deepEqual([first.current.version, first.previous, first.routes], ['1', null, []])
    const second = await run('2')
    assert.equal(second.previous.version, '1')
    assert.equal(second.previous.requests.errorRatio, 0.5)
    assert.equal(second.previous.requests.shedRatio, 0)
    assert.ok(second.previous.until >= second.previous.since)
    const [route] = second.routes
    assert.deepEqual([route.method, route.route], ['GET', '(unmatched)'])
    assert.deepEqual([route.current.count, route.previous.count], [2, 2])
    assert.ok(route.previous.p99Ms >= route.previous.p50Ms && route.previous.p50Ms > 0)
  })
}
