'use strict'
// node scraper.js <port> <rate> <seconds>: so many scrapes a second whatever the server does, each on a
// connection of its own and read to its end. It keeps and parses nothing, so that the reader is no
// bottleneck. It prints a line of JSON.

const net = require('node:net')

const [port, rate, seconds] = process.argv.slice(2).map(Number)
/** As many as wait at once: a flood, but not of this process' memory. */
const MAX_OPEN = 512
const REQUEST = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
/** The chunk that ends an answer; one that was cut off has none. */
const END = '0\r\n\r\n'

const buffer = Buffer.allocUnsafe(1 << 20)
const total = { sent: 0, whole: 0, cut: 0, unsent: 0, bytes: 0, tookMs: [] }
let open = 0

function scrape() {
  if (open >= MAX_OPEN) return void total.unsent++
  open++
  total.sent++
  const sinceMs = performance.now()
  let end = ''
  const socket = net.connect({
    port,
    host: '127.0.0.1',
    onread: {
      buffer,
      callback(length) {
        total.bytes += length
        end = buffer.latin1Slice(Math.max(0, length - END.length), length)
        return true
      },
    },
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    open--
    if (end !== END) return void total.cut++
    total.whole++
    total.tookMs.push(performance.now() - sinceMs)
  })
  socket.write(REQUEST)
}

const startMs = performance.now()
function tick() {
  const nowMs = performance.now() - startMs
  const due = Math.floor((Math.min(nowMs, seconds * 1000) * rate) / 1000)
  while (total.sent + total.unsent < due) scrape()
  if (nowMs < seconds * 1000) return void setTimeout(tick, 1)
  const { tookMs, ...counts } = total
  tookMs.sort((a, b) => a - b)
  const p99Ms = tookMs[Math.ceil(tookMs.length * 0.99) - 1] ?? null
  process.stdout.write(`${JSON.stringify({ ...counts, open, p99Ms })}\n`)
  process.exit()
}
tick()
