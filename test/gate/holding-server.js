'use strict'
// A real server behind the gate, with a clock that stands, whose /hold answers when told: with
// `maxConcurrent: 1` everything else waits or is refused meanwhile, as a test wishes.

const { EventEmitter, once } = require('node:events')
const http = require('node:http')
const { Spillway } = require('../../src/spillway')
const { serve } = require('../support/serve')
const { stillClock } = require('../support/still-clock')

const QUEUE = Object.freeze({ maxConcurrent: 1, maxDelay: 60_000, targetDelay: 60_000 })
const REFUSE = Object.freeze({ mode: 'threshold', maxConcurrent: 1 })

const attached = (spillway, handler) => spillway.attach(http.createServer(handler))

async function until(holds) {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

/**
 * @param {import('node:test').TestContext} t
 * @param {{ shed: object, deadline?: object, ignore?: any, create?: (spillway: any,
 *   handler: any) => import('node:net').Server, work?: any, logger?: any, clock?: any }} given
 */
async function holdingServer(
  t,
  {
    shed,
    deadline,
    ignore,
    create = attached,
    work = (_req, res) => res.end('done'),
    logger = false,
    clock = stillClock(),
  }
) {
  const spillway = new Spillway({ logger, shed, deadline, ignore }, clock)
  t.after(() => spillway.close())
  const held = []
  const arrivals = new EventEmitter()
  const server = create(spillway, (req, res, next) => {
    if (req.url !== '/hold') return work(req, res, next)
    held.push(res)
    arrivals.emit('held')
  })
  const served = await serve(t, server)
  const isHeld = () => once(arrivals, 'held')
  const release = () => held.pop().end('held')
  /** Sends a request to /hold, and resolves when its handler has it. */
  const hold = async () => {
    const arrived = isHeld()
    const answer = served.get('/hold')
    await arrived
    return { answer, release }
  }
  const admission = () => spillway.snapshot().admission
  const waiting = (count) => until(() => admission().queued === count)
  const refused = (count) =>
    until(() => admission().shed.reduce((sum, each) => sum + each.count, 0) === count)
  return { ...served, clock, spillway, admission, hold, isHeld, release, waiting, refused }
}

module.exports = { QUEUE, REFUSE, attached, holdingServer, until }
