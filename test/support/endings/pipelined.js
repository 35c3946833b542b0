'use strict'
// Several requests in one packet: all but the first wait for their turn, without a socket.

const { GET, LEAVINGS, completed, abortedUnanswered, never, answerOk, send } = require('./terms')

const PIPELINED = [
  {
    name: 'three requests in one packet, all answered',
    answer: answerOk,
    client: (connection) => send(connection, GET.repeat(3), 3),
    ...completed(200, 3),
  },
  {
    name: 'three requests in one packet, answered last first',
    answer: (_req, _res, responses) => {
      if (responses.length === 3) for (const each of responses.toReversed()) each.end('ok')
    },
    client: (connection) => send(connection, GET.repeat(3), 3),
    ...completed(200, 3),
  },
  ...Object.entries(LEAVINGS).flatMap(([leaves, how]) => [
    {
      name: `the client ${leaves} while two of three are queued`,
      answer: never,
      client: async (connection, entered) => {
        connection.send(GET.repeat(3))
        await entered(3)
        connection[how]()
      },
      ...abortedUnanswered(3),
    },
    {
      name: `the client ${leaves} while two of three are queued, ready but for the first`,
      answer: (_req, res, responses) => {
        if (responses.length > 1) res.end('ok')
      },
      client: async (connection, entered) => {
        connection.send(GET.repeat(3))
        await entered(3)
        connection[how]()
      },
      ...abortedUnanswered(3),
    },
  ]),
  {
    name: 'the server destroys the second of two while it is queued',
    answer: (_req, _res, responses) => {
      if (responses.length < 2) return
      responses[1].destroy()
      responses[0].end('ok')
    },
    client: (connection) => send(connection, GET.repeat(2)),
    outcomes: { completed: 1, errored: 1 },
    statuses: { 200: 1, '': 1 },
    firstBytes: 1,
  },
]

module.exports = { PIPELINED }
