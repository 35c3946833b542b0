'use strict'
// A shop: nginx, two processes of a front, and a service for orders with a Postgres. Starts them:
//
//   DATABASE_URL=postgres://... node app.js
//     Each service has a timeout of its own.
//   DATABASE_URL=postgres://... node app.js --fixed
//     Each service knows when its client gives up, and how much the next one can take.

const { fork } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const { startNginx } = require('./nginx')

const args = process.argv.slice(2)
const FRONTS = 2
const JOURNAL = process.env.JOURNAL ?? '/dev/null'

async function start(file, env) {
  const child = fork(path.join(__dirname, file), args, { env: { ...process.env, JOURNAL, ...env } })
  child.on('exit', (code) => process.exit(code ?? 1))
  const [started] = await once(child, 'message')
  return started
}

process.on('SIGTERM', () => process.exit())

async function main() {
  fs.writeFileSync(JOURNAL, '')
  const orders = await start('orders.js', {})
  const fronts = []
  for (let n = 0; n < FRONTS; n++) fronts.push(await start('front.js', { ORDERS: orders.url }))
  for (const { admin } of fronts) console.log(`Front at ${admin}`)
  const url = await startNginx(fronts.map(({ port }) => port))
  console.log(`Serving ${url}/catalogue`)
  console.log(`Admin server at ${orders.admin}`)
}

main()
