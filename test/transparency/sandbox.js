'use strict'
// The folder in which the suites run, with the packages they are about, and the Node that runs them.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')

async function run(command, args, options = {}) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (piece) => {
    out += piece
  })
  child.stderr.setEncoding('utf8').on('data', (piece) => {
    err += piece
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${err || out}`)
  return out.trim()
}

/** Installs what is not there yet: a second time it takes a second. */
async function prepare(folder) {
  fs.mkdirSync(folder, { recursive: true })
  fs.cpSync(path.join(__dirname, 'suites'), path.join(folder, 'suites'), { recursive: true })
  const wanted = fs.readFileSync(path.join(__dirname, 'package.json'), 'utf8')
  const file = path.join(folder, 'package.json')
  const isInstalled =
    fs.existsSync(path.join(folder, 'installed')) && fs.readFileSync(file, 'utf8') === wanted
  if (isInstalled) return
  fs.writeFileSync(file, wanted)
  await run('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'], {
    cwd: folder,
  })
  fs.writeFileSync(path.join(folder, 'installed'), '')
}

/** @returns {Promise<string>} the path of its binary: this process's, or that of the npm package `node` */
async function nodeOf(version) {
  if (version === undefined) return process.execPath
  return run('npx', ['-y', `node@${version}`, '-p', 'process.execPath'])
}

module.exports = { nodeOf, prepare, run }
