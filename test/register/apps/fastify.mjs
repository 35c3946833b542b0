import { fastify } from 'fastify'
import { endWithStdin } from './end-with-stdin.js'

const app = fastify()
app.get('/users/:id', (request) => ({ id: request.params.id }))
app.get('/fails', async () => {
  throw new Error('as intended')
})
await app.listen({ port: 0, host: '127.0.0.1' })
endWithStdin(app.server)
