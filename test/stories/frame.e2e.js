'use strict'
// The frame of the stories with programs of its own: a run that fails waits for the others, and the load of
// overload ends when it is asked to.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { tell } = require('../../examples/stories/frame/tell')

const LOAD = path.join(__dirname, '..', '..', 'examples', 'stories', 'overload', 'load.js')
/** Ends at once, or serves and has nothing to say. */
const APP = `
if (process.argv.includes('--ends')) process.exit(1)
const server = require('node:http').createServer((req, res) => res.writeHead(404).end())
server.listen(0, '127.0.0.1', () => {
  const url = 'http://127.0.0.1:' + server.address().port
  console.log('Serving ' + url)
  console.log('Admin server at ' + url)
})`

test('what a story has set up ends when all its runs have, although one has failed', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-tell-'))
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }))
  fs.writeFileSync(path.join(folder, 'app.js'), APP)
  const order = []
  const story = {
    name: 'two',
    folder,
    isQuiet: true,
    runs: [
      { name: 'fails', args: ['--ends'] },
      { name: 'lasts', shortSeconds: 1 },
    ],
    load: { parts: [] },
    setUp: () => ({ end: () => order.push('set-up') }),
    meanwhile: async ({ load }) => {
      await load.ended
      order.push('run')
    },
  }
  await assert.rejects(tell(story, { short: true }), /ended before it served/)
  assert.deepEqual(order, ['run', 'set-up'])
})

test('the load of overload ends when it is asked to, and reports', { timeout: 20_000 }, async (t) => {
  const server = http.createServer((_req, res) => res.end('found')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const child = fork(LOAD, { execArgv: [] })
  t.after(() => child.kill())
  const messages = []
  child.on('message', (message) => messages.push(message))
  child.send({ url: `http://127.0.0.1:${port}`, seconds: 60 })
  await once(child, 'message')
  child.send('stop')
  const [code] = await once(child, 'exit')
  assert.equal(code, 0)
  assert.equal(messages.at(-1).report.parts[0].count, 0)
})
