'use strict'
// The process that index.js measures: Express, its body parser, pino, and a heap that leaks, caches, saws or
// steps by its argument. It reports the heap at each collection, as src/core/process/garbage-collection.js
// reads it, and the verdict of spillway.

const { PerformanceObserver, constants } = require('node:perf_hooks')
const fs = require('node:fs')
const http = require('node:http')
const v8 = require('node:v8')
const express = require('express')
const pino = require('pino')
const { createSpillway } = require('../../src/index.js')

const kind = process.argv[2]
const [speed, rate] = process.argv.slice(3).map(Number)
const KILOBYTE = 1024
const MB = 1e6
/** What a request keeps of the heap: an array of doubles of one kilobyte. */
const block = () => new Array((KILOBYTE - 32) / 8).fill(0.5)
const kept = []
const byKey = new Map()
let debt = 0

/** Keeps so many bytes per request that its requests leak as many megabytes an hour. */
const leak = (megabytesPerHour) => () => {
  for (debt += (megabytesPerHour * MB) / (rate * 3600); debt >= KILOBYTE; debt -= KILOBYTE) kept.push(block())
}

const scaledSeconds = () => (process.uptime() * speed) | 0
const keep = (megabytes) => {
  while (kept.length < (megabytes * MB) / KILOBYTE) kept.push(block())
}
let at = 0
const KINDS = {
  none: () => {},
  /** 20 MB, filled at the start, of which each request replaces some. */
  cache: () => {
    keep(20)
    for (let i = 0; i < 5; i++) kept[at++ % kept.length] = block()
  },
  /** A batch of 20 MB, dropped every ten minutes. */
  sawtooth: () => {
    const isOver = scaledSeconds() % 600 < 5
    if (isOver) kept.length = 0
    else keep((scaledSeconds() % 600) / 30)
  },
  step: () => keep(scaledSeconds() > 1500 ? 30 : 0),
  /** A cache of 60 MB by key, of which most requests ask for few keys: it fills more and more slowly. */
  lru: () => {
    const key = (60_000 * Math.random() ** 2) | 0
    if (byKey.has(key)) return
    byKey.set(key, block())
    if (byKey.size > 60_000) byKey.delete(byKey.keys().next().value)
  },
  /** A cache that fills within twelve minutes. */
  warming: () => keep(20 * (1 - Math.exp(-scaledSeconds() / 240))),
}

const [, perHour] = /^leak-(\d+)$/.exec(kind) ?? []
const hold = perHour === undefined ? KINDS[kind] : leak(Number(perHour))

const spillway = createSpillway({ logger: false })
const log = pino({}, fs.createWriteStream('/dev/null'))
const app = express()
app.use(spillway.express())
app.use(express.json())
app.post('/orders/:id', (req, res) => {
  hold()
  log.info({ id: req.params.id, items: req.body.items.length }, 'order')
  setTimeout(
    () => res.json({ ...req.body, total: req.body.items.reduce((sum, { price }) => sum + price, 0) }),
    5
  )
})

const observer = new PerformanceObserver((list) => {
  for (const { detail, startTime, duration } of list.getEntries()) {
    const isMajor = /** @type {any} */ (detail).kind === constants.NODE_PERFORMANCE_GC_MAJOR
    if (!isMajor && /** @type {any} */ (detail).kind === constants.NODE_PERFORMANCE_GC_INCREMENTAL) continue
    process.send?.({ ms: startTime + duration, isMajor, bytes: v8.getHeapStatistics().used_heap_size })
  }
})
observer.observe({ entryTypes: ['gc'] })

const server = http.createServer(app)
server.listen(0, '127.0.0.1', () => process.send?.({ port: /** @type {any} */ (server.address()).port }))
process.on('message', () => process.send?.({ trend: spillway.snapshot().runtime.heap.trend }))
process.on('disconnect', () => process.exit())
