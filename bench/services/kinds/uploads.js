'use strict'
// Uploads by multer into memory.

const { peer } = require('../../support/peers')
const { HttpLoad } = require('../load')

const RATE = 40
const BYTES = 5_000_000
const BOUNDARY = 'form-boundary'

const form = () =>
  Buffer.concat([
    Buffer.from(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="photo.jpg"\r\nContent-Type: image/jpeg\r\n\r\n`
    ),
    Buffer.alloc(BYTES, 'x'),
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ])

module.exports = {
  name: 'uploads',
  title: 'uploads of 5 MB, multer',
  unit: 'upload',
  framework: 'express',
  serve(app) {
    const multer = peer('multer')
    const upload = multer({ storage: multer.memoryStorage() })
    app.post('/photos', upload.single('file'), (req, res) => res.json({ bytes: req.file.size }))
  },
  load: (port) =>
    new HttpLoad(port, {
      rate: RATE,
      path: '/photos',
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      body: form(),
    }),
}
