import { createServer } from 'node:http2'
import { endWithStdin } from './end-with-stdin.js'

endWithStdin(createServer((req, res) => res.end(`answer to ${req.url}`)).listen(0, '127.0.0.1'))
