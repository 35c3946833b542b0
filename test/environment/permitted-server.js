'use strict'
// A server with every feature that Node's permission model may turn off, for permissions.program.js.
// Arguments: a folder for its files.

const http = require('node:http')
const path = require('node:path')
const { createSpillway } = require('../../src/index.js')

const [, , folder] = process.argv
const BLOCK_MS = 250
const spillway = createSpillway({
  fleet: { name: 'permitted', directory: folder },
  release: { version: '1.0.0', file: path.join(folder, 'releases.json') },
  insight: { hangReport: folder },
  shed: { mode: 'off' },
})

function burn() {
  const begun = process.cpuUsage()
  while (process.cpuUsage(begun).user < BLOCK_MS * 1000);
}

const server = http.createServer((_req, res) => {
  burn()
  res.end('served')
})
spillway.attach(server)
spillway.on('stall', (stall) => process.send?.({ stall }))

process.on('message', (question) => {
  if (question === 'drop') {
    /** @type {any} */
    process.permission.drop('fs.read')
    process.send?.({ dropped: true })
  }
  if (question !== 'end') return
  spillway.close()
  process.disconnect()
  server.close()
  server.closeAllConnections()
})

server.listen(0, '127.0.0.1', async () => {
  const { port: adminPort } = await spillway.listen({ port: 0 })
  process.send?.({ ports: { port: /** @type {any} */ (server.address()).port, adminPort } })
})
