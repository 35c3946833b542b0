'use strict'
// require('spillway/async-errors') applies `catchAsync` to the application's Express. This package has no
// Express of its own. So Express is resolved from the main module and from the working directory.

const { createRequire } = require('node:module')
const path = require('node:path')
const { catchAsync } = require('./core/http/async-errors')
const { SpillwayError } = require('./core/errors/errors')

const startingPoints = [
  /** @type {NodeJS.Module} */ (module).parent?.filename,
  require.main?.filename,
  process.argv[1],
  path.resolve('index.js'),
]

function findExpress() {
  for (const file of startingPoints) {
    if (typeof file !== 'string' || !path.isAbsolute(file)) continue
    const requireThere = createRequire(file)
    try {
      requireThere.resolve('express')
    } catch {
      // Express is not installed there.
      continue
    }
    // A bundler replaces the `require` of this file by a function that finds only modules in the bundle.
    return requireThere('express')
  }
  throw new SpillwayError(
    'ERR_SPILLWAY_MISUSE',
    `spillway/async-errors found no express from ${path.resolve()}. Write spillway.catchAsync(require('express')).`
  )
}

catchAsync(findExpress())
