'use strict'
// A real database that speaks MongoDB's protocol, for one test: FerretDB 1 with SQLite, at the path in FERRETDB.
// To build it:
//   go mod download github.com/FerretDB/FerretDB@v1.24.2, copy that folder, write v1.24.2 into its
//   build/version/version.txt, and there: go build ./cmd/ferretdb

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { freePort } = require('../../../bench/support/free-port')

const { FERRETDB } = process.env

/** Why the tests cannot run here, or false. */
const isMissing = () => FERRETDB === undefined && 'needs the path of a FerretDB in FERRETDB'

/** Drivers try until it accepts connections. @returns {Promise<{ url: string, stop: () => Promise<void> }>} */
async function startFerretdb() {
  const folder = mkdtempSync(path.join(tmpdir(), 'ferretdb-'))
  const address = `127.0.0.1:${await freePort()}`
  const flags = [
    '--handler=sqlite',
    `--sqlite-url=file:${folder}/`,
    `--state-dir=${folder}`,
    `--listen-addr=${address}`,
    '--debug-addr=-',
    '--telemetry=disable',
    '--log-level=error',
  ]
  const child = spawn(String(FERRETDB), flags, { stdio: 'inherit' })
  const gone = once(child, 'exit')
  return {
    url: `mongodb://${address}/shop`,
    async stop() {
      child.kill()
      await gone
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

module.exports = { isMissing, startFerretdb }
