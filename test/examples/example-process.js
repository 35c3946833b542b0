'use strict'
// An example run as a user runs it: a process of its own, in a process group of its own, read by lines.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const readline = require('node:readline')
const { outsideTests } = require('../support/outside-tests')

const EXAMPLES = path.join(__dirname, '..', '..', 'examples')
const PRELOADS = ['module-alias.js', 'leave-with-test.js'].flatMap((file) => [
  '--require',
  path.join(__dirname, file),
])

class ExampleProcess {
  lines = []
  stderr = ''
  #waiting = []

  constructor(file, { args = [], port = 0, alias = '' }) {
    const { CI, FORCE_COLOR, NO_COLOR, NODE_OPTIONS, ...env } = outsideTests()
    this.child = spawn(process.execPath, [...PRELOADS, path.join(EXAMPLES, file), ...args], {
      env: { ...env, PORT: String(port), TEST_MODULE_ALIAS: alias },
      stdio: 'pipe',
      detached: true,
    })
    this.child.stderr.setEncoding('utf8').on('data', (text) => {
      this.stderr += text
    })
    readline.createInterface({ input: this.child.stdout }).on('line', (line) => {
      this.lines.push(line)
      this.#wake()
    })
    // Not before every process that inherited the pipes is gone: children of the example too.
    this.closed = once(this.child, 'close').then(([code, signal]) => {
      this.isClosed = true
      this.#wake()
      return { code, signal, stdout: this.lines.join('\n'), stderr: this.stderr }
    })
  }

  #wake() {
    for (const look of this.#waiting) look()
  }

  /** The first line that matches, once it is there. */
  line(pattern) {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.lines.map((line) => line.match(pattern)).find((match) => match !== null)
        if (found) resolve(found)
        else if (this.isClosed)
          reject(new Error(`Ended without ${pattern}:\n${this.lines.join('\n')}${this.stderr}`))
      }
      this.#waiting.push(look)
      look()
    })
  }

  async url() {
    const [url] = await this.line(/http:\/\/127\.0\.0\.1:\d+/)
    return url
  }

  signalGroup(signal) {
    process.kill(-this.child.pid, signal)
  }

  assertNothingIsLeft() {
    assert.throws(() => this.signalGroup(0), { code: 'ESRCH' }, 'a process of the group still runs')
  }
}

/** @param {import('node:test').TestContext} t ends the example, if it has not ended, when the test is over */
function startExample(t, file, options = {}) {
  const example = new ExampleProcess(file, options)
  t.after(async () => {
    if (!example.isClosed) example.signalGroup('SIGKILL')
    await example.closed
  })
  return example
}

module.exports = { startExample }
