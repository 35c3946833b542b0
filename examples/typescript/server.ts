// Express with types. `npx tsc -p examples/typescript && node examples/typescript/dist/server.js`. Node 24
// also runs this file directly: `node examples/typescript/server.ts`. Open /users/7 a few times, then
// /metrics.

import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Request, type Response } from 'express'
import { createSpillway, type Priority, type SpillwayOptions } from 'spillway'

function classify(req: IncomingMessage): Priority {
  return req.url?.startsWith('/checkout') ? 'critical' : 'normal'
}

// Options that are built apart from the call need the type; options in the call itself do not.
const options: SpillwayOptions = { shed: { classify }, errors: { timeout: 10_000 } }

const spillway = createSpillway(options)
const app = express()

app.use(spillway.express())
app.get('/users/:id', (req: Request<{ id: string }>, res: Response) => {
  res.json({ id: req.params.id })
})
app.use(spillway.errorHandler())

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
spillway.attach(server, { signals: true })

spillway.on('overload', ({ reason }) => console.warn(`Rejecting requests: ${reason}`))
server.once('listening', () => {
  const { port } = server.address() as AddressInfo
  console.log(`Open http://127.0.0.1:${port}/metrics`)
})
