'use strict'
// Which hosts of outgoing calls are named, and to whom: clients may choose hosts, as with webhooks.

const assert = require('node:assert/strict')
const { channel } = require('node:diagnostics_channel')
const { describe, it } = require('node:test')
const express = require('express')
const { OutgoingTable } = require('../../src/features/outgoing/outgoing-table')
const { serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')

const CHOSEN = 'alice-health-record-4711.example'
const ACCEPTS = ['text/plain', 'application/openmetrics-text', '*/*']

/** A call that the application makes: to the host that its client has chosen. */
function call(host) {
  const request = { origin: `http://user:hunter2@${host}/?token=abc`, method: 'GET' }
  channel('undici:request:create').publish({ request })
  channel('undici:client:beforeConnect').publish({ connectParams: { hostname: host } })
  channel('undici:client:connected').publish({ connectParams: { hostname: host } })
  channel('undici:request:bodySent').publish({ request })
  channel('undici:request:headers').publish({ request, response: { statusCode: 200 } })
  channel('undici:request:trailers').publish({ request })
}

async function shownOf(t, options, handlerOf = (spillway) => express().use(spillway.express())) {
  const spillway = spillwayFor(t, options)
  const { get } = await serve(t, handlerOf(spillway))
  call(CHOSEN)
  const bodies = []
  for (const accept of ACCEPTS) bodies.push((await get('/metrics', { headers: { accept } })).body)
  return { bodies, spillway, get }
}

describe('a host that a client chose', () => {
  it('is not at /metrics of the application, in no format', async (t) => {
    const { bodies } = await shownOf(t, {})
    for (const body of bodies) {
      assert.match(body, /http_server_request_duration_seconds/)
      assert.doesNotMatch(body, /alice|hunter2|abc|http_client_request|spillway_outgoing/)
    }
  })

  it('is there if endpoints.allow says who reads it, and where the application mounts the handler', async (t) => {
    const { bodies } = await shownOf(t, { endpoints: { allow: () => true } })
    for (const body of bodies) assert.match(body, new RegExp(`server_address="${CHOSEN}"`))
    const mounted = await shownOf(t, {}, (spillway) => spillway.handler('metrics'))
    for (const name of [
      'http_client_request_duration_seconds_count',
      'spillway_outgoing_part_seconds_total',
      'spillway_outgoing_connections_total',
    ])
      assert.match(mounted.bodies[0], new RegExp(`^${name}{server_address="${CHOSEN}"`, 'm'))
  })

  it('is on the admin server, also within a second of a scrape by anybody', async (t) => {
    const { spillway } = await shownOf(t, {})
    const { url } = await spillway.listen({ port: 0 })
    const text = await (await fetch(new URL('/metrics', url))).text()
    assert.match(text, new RegExp(`server_address="${CHOSEN}"`))
    assert.doesNotMatch(text, /hunter2|abc/)
  })
})

describe('the table of hosts', () => {
  const NO_PARTS = { connections: 0, lookupMs: 0, connectMs: 0, firstByteMs: 0 }
  const CALL = {
    method: 0,
    asker: undefined,
    durationMs: 1,
    isAnswered: true,
    isError: false,
    isShown: true,
    awaitedMs: -1,
    parts: NO_PARTS,
    status: 200,
    errorType: '',
  }
  const tableOf = (hosts, calls = CALL) => {
    const table = new OutgoingTable('(other)')
    for (const host of hosts) table.record({ host, port: '443' }, { ...calls, nowMs: 0 })
    return table
  }
  const many = (count, prefix = 'h') => Array.from({ length: count }, (_, i) => `${prefix}${i}`)
  const namesOf = (table) => table.list(0).hosts.map(({ host }) => host)

  it('keeps every host that has more than a fiftieth of the calls', () => {
    const table = tableOf(many(60))
    const used = many(40, 'used')
    for (let round = 0; round < 120; round++)
      for (const host of used) table.record({ host, port: '443' }, { ...CALL, nowMs: 0 })
    for (const host of many(1000, 'junk')) table.record({ host, port: '443' }, { ...CALL, nowMs: 0 })
    const names = namesOf(table)
    assert.equal(names.length, 50)
    for (const host of used) assert.ok(names.includes(host), host)
  })

  it('learns a host that is called again and again between others that are called once', () => {
    const table = tableOf(many(50))
    for (const junk of many(1000, 'junk')) {
      table.record({ host: junk, port: '443' }, { ...CALL, nowMs: 0 })
      table.record({ host: 'api', port: '443' }, { ...CALL, nowMs: 0 })
    }
    const api = table.list(0).hosts.find(({ host }) => host === 'api')
    assert.ok((api?.sinceStart.count ?? 0) > 900)
  })

  it('counts a host that never answers with the others once it is full, and replaces none by it', () => {
    const table = tableOf(many(50))
    for (const host of many(20, 'dead'))
      table.record({ host, port: '443' }, { ...CALL, isAnswered: false, nowMs: 0 })
    const { hosts, folded } = table.list(0)
    assert.equal(hosts.length, 51)
    assert.equal(folded, 20)
    assert.equal(hosts.find(({ host }) => host === '(other)')?.sinceStart.count, 20)
  })

  it('names a host with its port, unless it is the port of HTTP or HTTPS', () => {
    const table = new OutgoingTable('(other)')
    for (const port of ['', '80', '443', '9001', '9002'])
      table.record({ host: 'api', port }, { ...CALL, nowMs: 0 })
    assert.deepEqual(namesOf(table), ['api', 'api', 'api', 'api:9001', 'api:9002'])
  })

  it('keeps fifty combinations of method, status and error of a host, and then counts by method', () => {
    const table = new OutgoingTable('(other)')
    const api = { host: 'api', port: '443' }
    for (let i = 0; i < 1000; i++) table.record(api, { ...CALL, errorType: `E${i}`, nowMs: 0 })
    for (let i = 0; i < 1000; i++) table.record(api, { ...CALL, status: i, method: 1, nowMs: 0 })
    const { series, values } = table.sample()
    assert.equal(series.length, 50 + 2)
    assert.deepEqual(
      series.slice(-2).map(({ status, errorType }) => [status, errorType]),
      [
        [0, ''],
        [0, ''],
      ]
    )
    const width = values.length / series.length
    const countOf = ({ row }) =>
      values.subarray(row * width, (row + 1) * width - 1).reduce((a, b) => a + b, 0)
    assert.deepEqual(series.slice(-2).map(countOf), [950, 1000])
  })

  it('gives the row of a replaced host to the next one, with nothing in it', () => {
    const table = tableOf(many(50))
    const { length } = table.sample().values
    for (const host of many(500, 'next')) table.record({ host, port: '443' }, { ...CALL, nowMs: 0 })
    const { series, values } = table.sample()
    assert.equal(values.length, length)
    const width = length / 50
    for (const { row } of series) {
      const counts = values.subarray(row * width, (row + 1) * width - 1)
      assert.equal(
        counts.reduce((sum, each) => sum + each, 0),
        1
      )
    }
  })
})
