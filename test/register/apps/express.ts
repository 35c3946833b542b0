import express, { type Request } from 'express'
import { endWithStdin } from './end-with-stdin.js'

const app = express()
app.get('/users/:id', (req: Request<{ id: string }>, res) => {
  res.json({ id: req.params.id })
})
endWithStdin(app.listen(0, '127.0.0.1'))
