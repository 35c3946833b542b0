'use strict'
// Drives one ending through a server, and gives what was measured once all of it has ended and the server is
// closed: an outcome counted twice, or later, would be in it.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { Connection } = require('./connection')
const { readableSpillway } = require('./measured')

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Counts calls of `tick`; `reached(n)` resolves at the nth. */
function counter() {
  let count = 0
  const waiting = []
  const check = () => {
    for (const { wanted, resolve } of waiting) if (count >= wanted) resolve()
  }
  return {
    tick() {
      count++
      check()
    },
    reached: (wanted) =>
      new Promise((resolve) => {
        waiting.push({ wanted, resolve })
        check()
      }),
  }
}

/** The ending's application, and what stands before the spillway, telling when they are entered. */
function applicationOf({ before, answer }) {
  const arrived = counter()
  const entered = counter()
  const responses = []
  return {
    arrived: arrived.reached,
    entered: entered.reached,
    answer(req, res) {
      // An application may well not listen; what is tried here is not whether Node reports its errors.
      for (const each of [req, res, req.socket]) each.on('error', () => {})
      responses.push(res)
      answer(req, res, responses)
      entered.tick()
    },
    async before(req, res) {
      for (const each of [req, res]) each.on('error', () => {})
      arrived.tick()
      await before?.(req, res)
    },
    isSynchronous: before === undefined,
  }
}

const totalOf = (counts) => Object.values(counts).reduce((sum, count) => sum + count, 0)

async function settle(measured, count) {
  for (;;) {
    const { inFlight, outcomes } = await measured()
    if (inFlight === 0 && totalOf(outcomes) >= count) return
    await turn()
  }
}

/**
 * @param {import('node:test').TestContext} t
 * @param {(given: { spillway, application }) => import('node:net').Server} build
 * @param {{ connect?: (port: number) => Promise<any>, first?: (port: number) => Promise<void> }} [client]
 */
async function drive(t, ending, build, { connect = Connection.open, first } = {}) {
  const { spillway, measured } = readableSpillway(t)
  const application = applicationOf(ending)
  const server = build({ spillway, application })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  await first?.(port)
  const connection = await connect(port)
  await ending.client(connection, application.entered, application.arrived)
  await settle(measured, totalOf(ending.outcomes))
  connection.destroy()
  server.close()
  server.closeAllConnections?.()
  await once(server, 'close')
  for (let i = 0; i < 3; i++) await turn()
  const { inFlight, outcomes, statuses, firstBytes, faults } = await measured()
  return { inFlight, outcomes, statuses, firstBytes, faults }
}

const expectedOf = ({ outcomes, statuses, firstBytes }) => ({
  inFlight: 0,
  outcomes,
  statuses,
  firstBytes,
  faults: 0,
})

/** That much is measured, nothing more comes, and nothing is in flight. */
async function expectMeasured(measured, expected) {
  await settle(measured, totalOf(expected.outcomes))
  for (let i = 0; i < 3; i++) await turn()
  const { inFlight, outcomes, statuses, firstBytes, faults } = await measured()
  assert.deepEqual(
    { inFlight, outcomes, statuses, firstBytes, faults },
    { inFlight: 0, faults: 0, ...expected }
  )
}

module.exports = { counter, drive, expectMeasured, expectedOf, settle, totalOf, turn }
