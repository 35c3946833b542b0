'use strict'
// Runs a block of JavaScript of a page as it stands there, with `load` in place of `import`: what it creates
// is closed when its test is over, and ports it names are free ones.

const net = require('node:net')
const spillway = require('../../src')

const AsyncFunction = (async () => {}).constructor
const IMPORT_DEFAULT = /^import (\w+) from '([^']+)'$/gm
const IMPORT_NAMES = /^import \{ ([^}]+) \} from '([^']+)'$/gm
const DYNAMIC_IMPORT = /\bimport\(/g
const DECLARED = /^(?:const|let|(?:async )?function|class) (?:(\w+)|\{ ([\w, ]+) \})/gm

/** What a block has created, of which nobody else knows. */
class Created {
  servers = []
  instances = []

  constructor(t) {
    const { listen } = net.Server.prototype
    const { servers } = this
    net.Server.prototype.listen = function (...given) {
      servers.push(this)
      const onListening = given.find((each) => typeof each === 'function')
      return listen.call(this, { port: 0, host: '127.0.0.1' }, onListening)
    }
    t.after(() => {
      net.Server.prototype.listen = listen
      for (const instance of this.instances) instance.close()
      for (const server of servers) {
        server.close()
        server.closeAllConnections?.()
      }
    })
  }

  createSpillway = (options) => {
    const instance = spillway.createSpillway({ logger: false, ...options })
    this.instances.push(instance)
    return instance
  }

  /** The address of the server that the block has started. */
  async url() {
    const server = this.servers.at(-1)
    if (!server.listening) await new Promise((resolve) => server.once('listening', resolve))
    return `http://127.0.0.1:${server.address().port}`
  }
}

function asFunctionBody(code) {
  const names = [...code.matchAll(DECLARED)].map(([, name, several]) => name ?? several)
  const body = code
    .replace(IMPORT_DEFAULT, "const $1 = (await load('$2')).default")
    .replace(IMPORT_NAMES, "const { $1 } = await load('$2')")
    .replace(DYNAMIC_IMPORT, 'load(')
  // In a block of its own, so that it may declare what it would else be given.
  return `{\n${body}\nreturn { ${names.join(', ')} }\n}`
}

/**
 * @param {string} code
 * @param {Record<string, any>} given values by the name under which the block finds them; a getter is asked
 *   only where it is named
 * @returns {Promise<Record<string, any>>} what it has declared
 */
function runBlock(code, given) {
  const names = Object.keys(given).filter((name) => new RegExp(`\\b${name}\\b`).test(`${code} load(`))
  const run = new AsyncFunction(...names, asFunctionBody(code))
  return run(...names.map((name) => given[name]))
}

module.exports = { Created, runBlock }
