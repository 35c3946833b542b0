'use strict'
// examples/service/ as someone has it who copied it: a folder of its own, whose dependencies are installed.

const { once } = require('node:events')
const { spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { parse, parseAllDocuments } = require('yaml')
const { outsideTests } = require('../support/outside-tests')

const ROOT = path.join(__dirname, '..', '..')
const SERVICE = path.join(ROOT, 'examples', 'service')

const readService = (file) => fs.readFileSync(path.join(SERVICE, file), 'utf8')
const readYaml = (file) => parse(readService(file))
const readManifests = (file) => parseAllDocuments(readService(file)).map((document) => document.toJS())

/** @param {import('node:test').TestContext} t removes it when the test is over */
function copyService(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-service-'))
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }))
  fs.cpSync(SERVICE, folder, { recursive: true })
  fs.mkdirSync(path.join(folder, 'node_modules'))
  fs.symlinkSync(ROOT, path.join(folder, 'node_modules', 'spillway'))
  fs.symlinkSync(path.join(ROOT, 'node_modules', 'express'), path.join(folder, 'node_modules', 'express'))
  return folder
}

/**
 * Starts it in such a folder, on loopback and on ports that are free, whatever `env` says.
 *
 * @returns {Promise<{ child: import('node:child_process').ChildProcess, app: string, admin: string,
 *   ended: Promise<any[]> }>}
 */
async function startService(t, { command: [, ...args] = ['node', 'server.js'], env = {} } = {}) {
  const child = spawn(process.execPath, args, {
    cwd: copyService(t),
    env: {
      ...outsideTests(),
      ...env,
      HOST: '127.0.0.1',
      PORT: '0',
      ADMIN_PORT: '0',
      ...(env.ADMIN_HOST && { ADMIN_HOST: '127.0.0.1' }),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  let output = ''
  for await (const piece of child.stdout.iterator({ destroyOnReturn: false })) {
    output += piece
    const [app, admin] = output.match(/http:\/\/127\.0\.0\.1:\d+/g) ?? []
    if (admin !== undefined) return { child, app, admin, ended }
  }
  throw new Error(`ended without both of its addresses: ${output}`)
}

module.exports = { SERVICE, copyService, readManifests, readService, readYaml, startService }
