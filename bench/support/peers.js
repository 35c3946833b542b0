'use strict'
// Loads the packages that benches compare with or need. They have a lock file of their own: bench/peers.

const { createRequire } = require('node:module')
const path = require('node:path')

const PEERS = path.join(__dirname, '..', 'peers')
/** Its prom-client is older than that of the others. */
const APART = ['swagger-stats']

const folderOf = (name) => (APART.includes(name) ? path.join(PEERS, name) : PEERS)
const requireFor = (name) => createRequire(path.join(folderOf(name), 'package.json'))

function peer(name) {
  if (!hasPeer(name)) {
    throw new Error(
      `${name} is not installed: npm ci --prefix ${path.relative(process.cwd(), folderOf(name))}`
    )
  }
  return requireFor(name)(name)
}

function hasPeer(name) {
  try {
    requireFor(name).resolve(name)
    return true
  } catch {
    return false
  }
}

module.exports = { hasPeer, peer }
