'use strict'
// How many files of src/ a reader opens who follows one request.

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { test } = require('node:test')
const { AsyncContext } = require('../src/core/request/async-context')
const { runNode } = require('./support/run-node')

const MOST = 25
/** Entered only where Node keeps async contexts so cheaply that the context is always on. */
const CONTEXT = 'core/request/async-context.js'

const page = readFileSync(join(__dirname, '../docs/architecture.md'), 'utf8')
const listed = [...page.matchAll(/^\d+\. `([\w./-]+\.js)`: /gm)].map(([, file]) => file)

test(`a request enters at most ${MOST} files, which docs/architecture.md lists`, async (t) => {
  const { output } = await runNode(`require('./test/support/files-entered')`, { t })
  assert.ok(output.length <= MOST, `${output.length} files: ${output.join(' ')}`)
  const expected = listed.filter((file) => file !== CONTEXT || AsyncContext.isCheap)
  assert.deepEqual(output.sort(), expected.sort())
})
