'use strict'
// require('spillway/async-errors'): what `catchAsync` does to the Express of the application, which is looked for from
// where the program begins and from where it runs: this package has no Express of its own.

const { createRequire } = require('node:module')
const path = require('node:path')
const { catchAsync } = require('./adapters/async-errors')
const { SpillwayError } = require('./errors')

const from = [
  /** @type {any} */ (module).parent?.filename,
  require.main?.filename,
  process.argv[1],
  path.resolve('index.js'),
]

function findExpress() {
  for (const file of from) {
    if (typeof file !== 'string' || !path.isAbsolute(file)) continue
    const requireThere = createRequire(file)
    try {
      requireThere.resolve('express')
    } catch {
      // Not there.
      continue
    }
    // Not by the `require` here, in whose place a bundler puts one that knows only what is in the bundle.
    return requireThere('express')
  }
  throw new SpillwayError(
    'ERR_SPILLWAY_MISUSE',
    `spillway/async-errors found no express from ${path.resolve()}. Write spillway.catchAsync(require('express')).`
  )
}

catchAsync(findExpress())
