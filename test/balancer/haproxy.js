'use strict'
// A real HAProxy on free ports of 127.0.0.1, with the configuration that a test gives it.

const { execFileSync, spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')

const FOLDERS = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin']
const LOOK_MS = 20

function programOf() {
  return FOLDERS.map((folder) => path.join(folder, 'haproxy')).find((file) => {
    try {
      execFileSync(file, ['-v'], { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  })
}

const HAPROXY = programOf()
const HAPROXY_SKIP = HAPROXY === undefined ? 'no haproxy (Debian: apt-get install haproxy)' : false

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

/**
 * @param {import('node:test').TestContext} t ends it
 * @param {(paths: { port: number, admin: string }) => string} configurationOf `admin`: the path of its
 *   runtime socket
 */
async function startHaproxy(t, configurationOf) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-haproxy-'))
  const admin = path.join(folder, 'admin')
  const port = await freePort()
  const file = path.join(folder, 'haproxy.cfg')
  fs.writeFileSync(file, configurationOf({ port, admin }))
  const child = spawn(HAPROXY, ['-q', '-db', '-f', file], { stdio: ['ignore', 'ignore', 'inherit'] })
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  t.after(async () => {
    process.off('exit', end)
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    fs.rmSync(folder, { recursive: true, force: true })
  })

  /** Answers a command of its runtime socket. */
  async function run(command) {
    const socket = net.connect(admin)
    socket.end(`${command}\n`)
    let text = ''
    for await (const piece of socket.setEncoding('utf8')) text += piece
    return text.trim()
  }

  /** The statistics of each server of a backend, by name. */
  async function statistics(backend) {
    const [head, ...rows] = (await run('show stat')).split('\n')
    const names = head.replace('# ', '').split(',')
    const records = rows.map((row) => Object.fromEntries(row.split(',').map((value, i) => [names[i], value])))
    return Object.fromEntries(
      records
        .filter(({ pxname, svname }) => pxname === backend && svname !== 'BACKEND')
        .map((record) => [record.svname, record])
    )
  }

  /** Waits until the statistics of the backend are as told. */
  async function until(backend, isSo) {
    for (;;) {
      const now = await statistics(backend).catch(() => undefined)
      if (now !== undefined && isSo(now)) return now
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  }

  return { port, run, statistics, until }
}

module.exports = { HAPROXY_SKIP, startHaproxy }
