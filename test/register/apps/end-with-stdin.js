'use strict'
// Tells where a server listens, and closes it when standard input ends. What is left must let the process end
// by itself.

/** @param {import('node:http').Server} server */
function endWithStdin(server, { exitCode = 0 } = {}) {
  const tell = () => console.log(`port ${/** @type {any} */ (server.address()).port}`)
  if (server.listening) tell()
  else server.once('listening', tell)
  process.stdin.resume().on('end', () => {
    server.close()
    server.closeAllConnections?.()
    process.exitCode = exitCode
  })
}

module.exports = { endWithStdin }
