// An application of Next with a server of its own, as its documentation has it. It ends when its standard
// input does.

const { createServer } = require('node:http')
const next = require('next')

const app = next({ dev: process.env.NODE_ENV !== 'production', dir: __dirname })

app.prepare().then(() => {
  const handle = app.getRequestHandler()
  const server = createServer((req, res) => handle(req, res))
  server.listen(0, '127.0.0.1', () => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    console.log(`port ${port}`)
  })
  process.stdin.on('end', () => process.exit(3)).resume()
})
