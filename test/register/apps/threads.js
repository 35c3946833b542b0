'use strict'
// Two worker threads that serve, one after the other; the main thread has no server. A word on standard input
// ends the first.
const http = require('node:http')
const { Worker, isMainThread, parentPort } = require('node:worker_threads')

if (isMainThread) {
  const threads = []
  const start = () => {
    const thread = new Worker(__filename)
    threads.push(thread)
    thread.on('message', (port) => {
      console.log(`port ${port}`)
      if (threads.length < 2) start()
    })
  }
  start()
  process.stdin
    .on('data', () => threads[0].postMessage('end'))
    .on('end', () => {
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
