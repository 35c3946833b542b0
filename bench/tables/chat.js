'use strict'
// The table of `npm run bench -- chat`.

const { byNode, stamp, table } = require('./markdown')

const ms = (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`
const sum = (counts) => Object.values(counts).reduce((total, count) => total + count, 0)

function sectionOf([{ cost, healthy, without, overloaded, full, ...results }], major) {
  const { groups, events } = healthy
  const failed = sum(groups.polling.failed) + sum(groups.websocket.failed)
  const flood = overloaded.newcomers.connected + sum(overloaded.newcomers.failed)
  return [
    table(
      [`Node ${major}: a message`, 'unwatched', 'watched', 'added'],
      cost.map(({ what, plain, watched, addedMicros }) => [
        what.replace('a function', 'a plain listener').replace('async function', 'async listener'),
        `${plain.toFixed(2)} µs`,
        `${watched.toFixed(2)} µs`,
        `${addedMicros.toFixed(2)} µs`,
      ])
    ),
    '',
    `Healthy: ${groups.websocket.connected} sessions by WebSocket and ${groups.polling.connected} by polling; ${failed} failed, ${sum(healthy.refused)} were refused. The server measured the time from receipt to ` +
      'acknowledgement. The clients ran in other processes, and measured the time from sending to acknowledgement. `say` computes, `lookup` awaits 20 to 120 ms, `probe` 100 to 600 ms:',
    '',
    table(
      ['event', 'p50: server, clients', 'p90', 'p99'],
      events.map(({ event, ack, clients }) => [
        `\`${event}\``,
        ...['p50', 'p90', 'p99'].map((name) => `${ms(ack[`${name}Ms`])}, ${ms(clients[name])}`),
      ])
    ),
    '',
    `${flood} new sessions come, five times what the loop can serve. Without Spillway, ${flood - without.newcomers.connected - sum(without.newcomers.failed)} of them were still waiting for their connection at the end. The p50 and p99 are those of sessions that were connected before:`,
    '',
    table(
      ['', 'p99 before', 'p50 during', 'p99 during', 'new connections', 'refused'],
      [
        ['without Spillway', without],
        ['with `sockets()`', overloaded],
        ['without Spillway, with only as many new connections as above', full],
      ].map(([name, row]) => [
        name,
        ms(row.beforeP99Ms),
        ms(row.duringP50Ms),
        ms(row.duringP99Ms),
        String(row.newcomers.connected),
        String(sum(row.newcomers.failed)),
      ])
    ),
    '',
    stamp(results, 'chat'),
  ].join('\n')
}

const chatTable = () => byNode(['chat'], sectionOf)

module.exports = { chatTable }
