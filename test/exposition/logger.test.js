'use strict'
// Where the few lines go that we log.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const path = require('node:path')
const { test } = require('node:test')
const { loggerFrom } = require('../../src/exposition/logger')

const INDEX = path.join(__dirname, '../../src/index.js')

/** Runs the script in a process of its own, for pino writes to its standard output. */
function run(script) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' })
  assert.equal(stderr, '')
  assert.equal(status, 0)
  return stdout
}

test('a logger given is the one used', () => {
  const given = { warn() {}, error() {} }
  assert.equal(loggerFrom(given), given)
})

test('false is silence', () => {
  const logger = loggerFrom(false)
  assert.equal(logger.warn({}, 'unheard'), undefined)
  assert.equal(logger.error({}, 'unheard'), undefined)
})

test('left out, it is a pino that writes a line of JSON with name, level, error and message', () => {
  const lines = run(`
    const { loggerFrom } = require('${path.join(__dirname, '../../src/exposition/logger')}')
    const logger = loggerFrom(undefined)
    logger.error({ err: new Error('as it should'), place: 'here' }, 'it failed')
    logger.warn({}, 'careful')
  `)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    lines.map(({ name, level, msg }) => ({ name, level, msg })),
    [
      { name: 'spillway', level: 50, msg: 'it failed' },
      { name: 'spillway', level: 40, msg: 'careful' },
    ]
  )
  assert.equal(lines[0].err.message, 'as it should')
  assert.equal(lines[0].place, 'here')
})

test('pino is not even loaded before there is something to say', () => {
  const loaded = run(`
    require('${INDEX}').createSpillway().close()
    console.log(Object.keys(require.cache).some((file) => /node_modules.pino./.test(file)))
  `)
  assert.equal(loaded, 'false\n')
})
