'use strict'
// Starts test/fleet/profiled-cluster.js, in a temporary folder of its own, and ends all of its processes.

const { fork } = require('node:child_process')
const { once } = require('node:events')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { outsideTests } = require('./outside-tests')

const FILE = path.join(__dirname, '../fleet/profiled-cluster.js')

/** @returns `members`: their ports by name */
async function startProfiledCluster() {
  // Short, because a socket's path must be.
  const folder = mkdtempSync(path.join(tmpdir(), 'sw-'))
  const env = outsideTests({ TMPDIR: folder })
  const child = fork(FILE, { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const stop = async () => {
    child.disconnect()
    await once(child, 'exit')
    rmSync(folder, { recursive: true, force: true })
  }
  const [members] = await once(child, 'message')
  return { child, folder, members, stop }
}

module.exports = { startProfiledCluster }
