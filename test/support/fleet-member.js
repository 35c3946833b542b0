'use strict'
// A member of a fleet under test, wherever it runs: serves requests that take exactly as long as it is told,
// by a clock that only moves then, and answers what it is asked.

require('./checked-transitions')
const { existsSync, writeFileSync } = require('node:fs')
const { inject } = require('light-my-request')
const client = require('prom-client')
const { systemClock } = require('../../src/core/clock')
const { Spillway } = require('../../src/spillway')
const { ask } = require('./sink')
const { stillClock } = require('./still-clock')

const METRICS = {
  jobs: () => new client.Counter({ name: 'jobs_total', help: 'Jobs.', labelNames: ['kind'] }),
  size: () => new client.Histogram({ name: 'job_bytes', help: 'Size of jobs.', buckets: [10, 100] }),
  oldest: () => new client.Gauge({ name: 'oldest_job_seconds', help: 'Age.', aggregator: 'max' }),
  lag: () => new client.Gauge({ name: 'job_lag_seconds', help: 'Lag.', aggregator: 'average' }),
  wait: () => new client.Summary({ name: 'job_wait_seconds', help: 'Wait.', percentiles: [0.5] }),
}

function createMember({ defaultLabels, ...options } = {}) {
  let aheadMs = 0
  // Whoever is slow because the machine is has answered all the same, unless it is what a test is about.
  let patience = 50
  const clock = {
    ...stillClock(),
    wallMs: () => Date.now() + aheadMs,
    after: (delayMs, callback) => systemClock.after(delayMs * patience, callback),
  }
  const registry = defaultLabels && new client.Registry()
  registry?.setDefaultLabels(defaultLabels)
  const open = () =>
    new Spillway({ logger: false, shed: { mode: 'off' }, routes: { label }, registry, ...options }, clock)
  const instances = [open()]
  const listeners = []
  const metrics = {}

  function listenerOf(instance) {
    return (listeners[instance] ??= instances[instance].wrap((req, res) => {
      clock.advance(Number(req.headers['x-takes-ms']))
      res.statusCode = Number(req.headers['x-status'] ?? 200)
      res.end()
    }))
  }

  const answers = {
    async serve({ durations, route = '/', instance = 0, status = 200 }) {
      for (const durationMs of durations) {
        const headers = { 'x-takes-ms': String(durationMs), 'x-status': String(status) }
        await inject(listenerOf(instance), { url: route, headers })
        // Injected answers close in a later turn.
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
    /** Of the application's own: `[metric, method, ...arguments]`. */
    note({ calls }) {
      for (const [name, method, ...args] of calls) (metrics[name] ??= METRICS[name]())[method](...args)
    },
    /** Anew, unless `later` says how long after the scrape before it comes. */
    metrics({ instance = 0, laterMs = 1000 }) {
      clock.advance(laterMs)
      return ask(instances[instance].handler('metrics')).text()
    },
    snapshot: ({ instance = 0 }) => instances[instance].fleetSnapshot(),
    faults: () => instances[0].snapshot().internalErrors,
    async open() {
      const instance = instances.push(open()) - 1
      await instances[instance].fleetSnapshot()
    },
    close: ({ instance = 0 }) => instances[instance].close(),
    /** Of the clock on the wall, by which a report grows old. */
    skipAhead({ ms }) {
      aheadMs += ms
    },
    become: ({ user }) => process.seteuid(user),
    exit: () => process.exit(0),
    bePatient({ factor }) {
      patience = factor
    },
    /** Its loop, until the file is gone. */
    block({ file }) {
      writeFileSync(file, '')
      while (existsSync(file)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    },
  }
  return async ({ do: what, ...how }) => answers[what](how)
}

const label = (req) => req.url

module.exports = { createMember }
