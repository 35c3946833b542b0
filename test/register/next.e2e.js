'use strict'
// A Next application with a custom server, unchanged: it answers as without spillway/register, and its
// requests are counted without a route, because Next tells nobody which page it has chosen.
// `npm run test:next` installs it.

const assert = require('node:assert/strict')
const { existsSync } = require('node:fs')
const { join } = require('node:path')
const { test } = require('node:test')
const { Program, get } = require('../support/registered')

const FOLDER = join(__dirname, 'next')
const skip = existsSync(join(FOLDER, 'node_modules', 'next'))
  ? false
  : 'Next is not installed: npm run test:next'
const PATHS = ['/users/7', '/api/hello', '/no']
const env = { NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' }

async function answersOf(program) {
  const port = await program.port()
  const answers = []
  for (const path of PATHS) {
    const { status, body } = await get(`http://127.0.0.1:${port}${path}`)
    answers.push({ path, status, body })
  }
  return answers
}

for (const way of /** @type {const} */ (['import', 'require']))
  test(`Next answers as without spillway, with --${way}, and is measured without routes`, {
    skip,
  }, async (t) => {
    const plain = new Program(t, [join(FOLDER, 'server.js')], { way: 'not', env })
    const expected = await answersOf(plain)
    assert.equal((await plain.end()).code, 3)
    assert.match(expected[0].body, /User (<!-- -->)?7/)
    const program = new Program(t, [join(FOLDER, 'server.js')], { way, env })
    assert.deepEqual(await answersOf(program), expected)
    await program.untilCounted({ http_route: '(unmatched)' }, PATHS.length)
    assert.equal((await program.end()).code, 3)
  })
