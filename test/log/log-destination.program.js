'use strict'
// What becomes of the lines that a pino of our own holds back: in processes of their own, for it writes to
// standard output.

const assert = require('node:assert/strict')
const { spawn, spawnSync } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const readline = require('node:readline')
const { describe, it } = require('node:test')
const { outsideTests } = require('../support/outside-tests')

const SRC = path.join(__dirname, '../../src')
const LOGGER = `
  const clock = { ...require('${SRC}/core/clock').systemClock }
  const onError = (error) => process.stderr.write(error.code)
  const logger = require('${SRC}/core/log/logger').loggerFrom(undefined, { clock, onError })
`
const NO_TIMERS = 'clock.after = () => {};'
const STAYS = ';setInterval(() => {}, 1e6);'

/** The messages of a process that ends by itself, and how it ended. */
function logged(script) {
  const { status, stdout } = spawnSync(process.execPath, ['-e', LOGGER + script], {
    encoding: 'utf8',
    env: outsideTests(),
  })
  return { status, messages: stdout.trim().split('\n').map(messageOf) }
}

/** The first messages of a process that goes on. */
async function firstLogged(count, script) {
  const child = spawn(process.execPath, ['-e', LOGGER + script + STAYS], {
    env: outsideTests(),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const messages = []
  for await (const line of readline.createInterface({ input: child.stdout })) {
    if (messages.push(messageOf(line)) === count) break
  }
  child.kill('SIGKILL')
  return messages
}

const messageOf = (line) => JSON.parse(line).msg

describe('the lines of our own logger', () => {
  it('are written even if no further line follows', async () => {
    assert.deepEqual(await firstLogged(2, "logger.info({}, 'one'); logger.warn({}, 'two')"), ['one', 'two'])
  })

  it('are written again after a pause', async () => {
    const script = "logger.info({}, 'one'); setTimeout(() => logger.info({}, 'two'), 200)"
    assert.deepEqual(await firstLogged(2, script), ['one', 'two'])
  })

  it('are written at once if one is an error, in order', async () => {
    const script = `${NO_TIMERS} logger.info({}, 'before'); logger.error({}, 'failed')`
    assert.deepEqual(await firstLogged(2, script), ['before', 'failed'])
  })

  it('are written at once if there are many', async () => {
    const script = `${NO_TIMERS} for (let i = 0; i < 2000; i++) logger.info({}, String(i))`
    assert.deepEqual(
      await firstLogged(1200, script),
      Array.from({ length: 1200 }, (_, i) => String(i))
    )
  })

  for (const [how, ending, status] of [
    ['ends', '', 0],
    ['calls process.exit()', 'process.exit(3)', 3],
    [
      'throws',
      "process.on('exit', () => {}); process.stderr.write = () => true; throw new Error('as it should')",
      1,
    ],
  ]) {
    it(`are all there when the process ${how}`, () => {
      const ended = logged(`logger.info({}, 'one'); logger.warn({}, 'two'); ${ending}`)
      assert.deepEqual(ended, { status, messages: ['one', 'two'] })
    })
  }

  it('are written when a thread ends', () => {
    const script = JSON.stringify(`${LOGGER} logger.info({}, 'of a thread')`)
    const { messages } = logged(`new (require('node:worker_threads').Worker)(${script}, { eval: true })`)
    assert.deepEqual(messages, ['of a thread'])
  })

  it('are written at once while time stands still', async () => {
    const script = `${NO_TIMERS} clock.isFrozen = true; logger.info({}, 'one')`
    assert.deepEqual(await firstLogged(1, script), ['one'])
  })

  for (const level of ['info', 'error']) {
    it(`do not keep a process whose disk is full from exiting, at level ${level}`, () => {
      const env = outsideTests({ SCRIPT: `${LOGGER} logger.${level}({}, 'lost'); logger.info({}, 'lost')` })
      const command = ['-c', `"${process.execPath}" -e "$SCRIPT" > /dev/full`]
      const { status, signal } = spawnSync('sh', command, { env, timeout: 120_000 })
      assert.deepEqual({ status, signal }, { status: 0, signal: null })
    })
  }

  it('do not keep a process whose reader has stopped from exiting', async () => {
    const script = `for (let i = 0; i < 4000; i++) logger.error({}, 'x'.repeat(200))
      setImmediate(() => process.exit(3))`
    const child = spawn(process.execPath, ['-e', LOGGER + script], {
      env: outsideTests(),
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: 120_000,
    })
    const [status] = await once(child, 'exit')
    child.stdout.destroy()
    assert.equal(status, 3)
  })

  it("go through Node's own stream in a worker of PM2's cluster, which replaces its write()", () => {
    const worker = `const taken = []
      process.stdout.write = (text) => taken.push(text)
      ${LOGGER} logger.info({}, 'one'); logger.warn({}, 'two')
      process.send(taken, () => process.exit())`
    const primary = `const cluster = require('node:cluster')
      cluster.setupPrimary({ execArgv: ['-e', ${JSON.stringify(worker)}], exec: '', silent: true })
      cluster.fork({ pm_id: '0' }).on('message', (taken) => process.stdout.write(taken.join('')))`
    const { stdout } = spawnSync(process.execPath, ['-e', primary], { encoding: 'utf8', env: outsideTests() })
    assert.deepEqual(stdout.trim().split('\n').map(messageOf), ['one', 'two'])
  })

  it('keep no process running', () => {
    assert.deepEqual(logged(`logger.info({}, 'last')`), { status: 0, messages: ['last'] })
  })
})
