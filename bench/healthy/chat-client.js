'use strict'
// A client process of bench/healthy for its chat. Each session connects, sends three messages and
// disconnects. A session waits for the acknowledgement of each message, and 300 ms more. The tally counts
// sessions, not requests.

const { setTimeout: delay } = require('node:timers/promises')
const { peer } = require('../support/peers')
const { clockMs } = require('./clock')
const { HOST } = require('./connection')
const { Tally } = require('./tally')

const { io } = peer('socket.io-client')

const MESSAGE = { at: { lng: 127.25, lat: 37.25 }, text: 'testing', radius: 5000 }
const MESSAGES = 3
const PAUSE_MS = 300
const TIMEOUT_MS = 10_000

/**
 * @returns {Promise<number>} 200 for a completed session, 503 if a rejection ended it, 0 for any other
 *   failure
 */
function session(url, transport) {
  const socket = io(url, {
    transports: [transport],
    forceNew: true,
    reconnection: false,
    timeout: TIMEOUT_MS,
  })
  return new Promise((resolve) => {
    const end = (status) => {
      resolve(status)
      socket.close()
    }
    // A poll and a websocket report the status of an answer in different places.
    const endFor = (error) =>
      end(/\b503\b/.test(JSON.stringify([error?.description, error?.message])) ? 503 : 0)
    socket.on('connect_error', endFor)
    socket.on('disconnect', (_reason, details) => endFor(details))
    socket.on('connect', async () => {
      try {
        for (let i = 0; i < MESSAGES; i++) {
          await socket.timeout(TIMEOUT_MS).emitWithAck('message', MESSAGE)
          await delay(PAUSE_MS)
        }
        end(200)
      } catch {
        end(0)
      }
    })
  })
}

/** @param {{ port: number, startMs: number, fromMs: number, behaviours: any[] }} plan with one behaviour */
async function follow({ port, startMs, fromMs, behaviours: [{ rate, seconds, transport }] }) {
  const tally = new Tally(fromMs, Number.POSITIVE_INFINITY)
  const sessions = Array.from({ length: rate * seconds }, async (_, i) => {
    await delay(startMs + (i * 1000) / rate - clockMs())
    const ended = tally.begin()
    ended(await session(`http://${HOST}:${port}`, transport))
  })
  await Promise.all(sessions)
  process.send?.(tally.take())
}

process.on('disconnect', () => process.exit())
process.on('message', follow)
process.send?.('ready')
