'use strict'
// A folder with a file of 5 MB to serve, and clients that read it no faster than they please.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const BYTES = 5_000_000
const NAME = 'video.bin'

async function prepareFolder() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-bench-files-'))
  fs.writeFileSync(path.join(folder, NAME), Buffer.alloc(BYTES, 'x'))
  return { given: folder, stop: async () => fs.rmSync(folder, { recursive: true }) }
}

/**
 * @returns {(res: import('node:http').IncomingMessage, tally: import('../load').Tally) => void} rests after
 *   each chunk; counts gigabytes
 */
const readSlowly = (restMs) => (res, tally) => {
  res.on('data', (chunk) => {
    tally.units += chunk.length / 1e9
    res.pause()
    setTimeout(() => res.resume(), restMs)
  })
}

module.exports = { FILE_PATH: `/files/${NAME}`, prepareFolder, readSlowly }
