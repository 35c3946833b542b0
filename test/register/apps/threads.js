'use strict'
// Two worker threads that serve; the main thread has no server.
const http = require('node:http')
const { Worker, isMainThread, parentPort } = require('node:worker_threads')

if (isMainThread) {
  const threads = [new Worker(__filename), new Worker(__filename)]
  for (const thread of threads) thread.on('message', (port) => console.log(`port ${port}`))
  process.stdin.resume().on('end', () => {
    for (const thread of threads) thread.postMessage('end')
  })
} else {
  const server = http.createServer((_req, res) => res.end('a thread'))
  server.listen(0, '127.0.0.1', () => parentPort?.postMessage(/** @type {any} */ (server.address()).port))
  parentPort?.once('message', () => {
    server.close()
    server.closeAllConnections()
  })
}
