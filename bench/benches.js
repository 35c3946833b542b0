'use strict'
// The benches: what each proves, and what a reader must know before a run. Each has a folder of its name
// beside this file.

/**
 * @typedef {object} Bench
 * @property {string} name
 * @property {string} proves
 * @property {string} takes about how long it takes on two cores
 * @property {boolean} needsQuiet whether other processes of the machine change its figures
 * @property {string} shown where its result is shown: tables by the name of their marks
 * @property {string[]} [nodeArgs]
 */

/** @type {Bench[]} */
const BENCHES = [
  {
    name: 'overload',
    proves:
      'A server in overload still serves most of its capacity in time, whatever its work, and rejects the rest.',
    takes: '80 minutes; --quick 2, --step 4, --connections 20',
    needsQuiet: true,
    shown: 'tables `overload`, `works`, `settled`, `connections`; docs/goodput.svg, docs/step.svg',
  },
  {
    name: 'healthy',
    proves:
      'The gate rejects nothing of a load that the server can serve, and keeps the goodput of closed loops.',
    takes: '70 minutes; --quick 12',
    needsQuiet: true,
    shown: 'tables `healthy`, `loads`',
  },
  {
    name: 'gateways',
    proves:
      'Behind a gateway with kept connections, a service in overload serves in time and rejects the rest.',
    takes: '70 minutes; --quick 1. Debian packages nginx-light and haproxy',
    needsQuiet: true,
    shown: 'its output',
  },
  {
    name: 'brownout',
    proves:
      'At twice the capacity, cheaper answers by `shouldDegrade()` keep in time what would be rejected.',
    takes: 'a second; --real 12 minutes',
    needsQuiet: false,
    shown: 'table `brownout`',
  },
  {
    name: 'balancers',
    proves: 'HAProxy that asks the agent gives a slow worker less, so that errors and p99 fall.',
    takes: '7 minutes; --rounds 1 2. Debian package haproxy',
    needsQuiet: false,
    shown: 'table `balancers`',
  },
  {
    name: 'autoscaling',
    proves:
      'An autoscaler that reads `spillway_pressure_ratio` has enough pods and does not flap, where CPU adds none or too many.',
    takes: 'some seconds',
    needsQuiet: false,
    shown: 'table `autoscaling`',
  },
  {
    name: 'proxy-age',
    proves:
      'Behind a proxy that queues, `shed.maxAge` keeps the answers in time, where nothing else sees the queue.',
    takes: '1 minute. Debian packages nginx-light and haproxy',
    needsQuiet: false,
    shown: 'docs/deadlines.md',
  },
  {
    name: 'pools',
    proves:
      'With `spillway.pool()` a service serves what its pool can serve, in time, at ten times the load, and rejects nothing below.',
    takes: '4 minutes. Needs Postgres',
    needsQuiet: true,
    shown: 'table `pools`',
  },
  {
    name: 'overhead',
    proves: 'What spillway and other packages add to the CPU time of a request.',
    takes: '20 minutes',
    needsQuiet: true,
    shown: 'table `overhead`',
  },
  {
    name: 'services',
    proves:
      'What Spillway costs services that upload, stream, proxy, render or query, beside Prometheus metrics and OpenTelemetry.',
    takes: '25 minutes; --quick 6',
    needsQuiet: true,
    shown: 'tables `services`, `services-short`',
  },
  {
    name: 'instructions',
    proves: 'The same as `overhead` in instructions, which scatter less. Needs valgrind.',
    takes: '15 minutes',
    needsQuiet: false,
    shown: 'below table `overhead`',
  },
  {
    name: 'hot-path',
    proves:
      'What spillway adds without the kernel, to a tenth of a microsecond, for before and after a change.',
    takes: '13 minutes',
    needsQuiet: true,
    shown: 'table `features`, and below table `overhead`',
  },
  {
    name: 'access-log',
    proves: 'The access log costs at most half of what morgan costs. Instructions need valgrind.',
    takes: '15 minutes',
    needsQuiet: true,
    shown: 'table `access-log`',
  },
  {
    name: 'errors',
    proves: "An error answer costs at most 1.3 of the framework's own.",
    takes: '3 minutes',
    needsQuiet: true,
    shown: 'table `errors`',
  },
  {
    name: 'logged-in',
    proves: 'What it costs to know the user before the gate.',
    takes: '2 minutes',
    needsQuiet: true,
    shown: 'docs/recipes.md',
  },
  {
    name: 'otel',
    proves: "What spillway adds to a request beside OpenTelemetry's SDK.",
    takes: '3 minutes',
    needsQuiet: true,
    shown: 'its output',
  },
  {
    name: 'scrape',
    proves:
      "A scrape of 10 000 series blocks the loop for at most some milliseconds, and costs less CPU than prom-client's.",
    takes: '10 minutes',
    needsQuiet: true,
    shown: 'table `scrape`',
  },
  {
    name: 'scrape-flood',
    proves: 'Hundreds of scrapes a second do not starve the requests behind the gate.',
    takes: '1 minute',
    needsQuiet: true,
    shown: 'table `scrape-flood`',
  },
  {
    name: 'fleet',
    proves: 'A scrape of a cluster blocks the loop of each worker for at most some milliseconds.',
    takes: '3 minutes',
    needsQuiet: true,
    shown: 'table `fleet`',
  },
  {
    name: 'doctor',
    proves: 'The doctor names the fault of a service within a minute, and finds none in a healthy service.',
    takes: '67 minutes; --at-once 3 23',
    needsQuiet: true,
    shown: 'its output',
  },
  {
    name: 'heap-series',
    proves:
      'A leak of a real process under load is found in time, and a cache, a saw-tooth or a step is none.',
    takes: '6 minutes',
    needsQuiet: false,
    shown: 'test/process/heap-series.json',
  },
  {
    name: 'start',
    proves: 'What a start with spillway costs in time, memory and files, beside Express and prom-client.',
    takes: '2 minutes',
    needsQuiet: true,
    shown: 'tables `start`, `cost`',
  },
  {
    name: 'idle',
    proves: 'spillway does not wake an idle process.',
    takes: '1 minute',
    needsQuiet: false,
    shown: 'its output',
  },
  {
    name: 'stalls',
    proves:
      'The watcher of stalls costs an idle process and a request next to nothing, and interrupts the loop for a fraction of a millisecond.',
    takes: '2 minutes',
    needsQuiet: true,
    shown: 'its output',
  },
  {
    name: 'hang',
    proves:
      'The thread that watches for a hang costs an idle process and a request next to nothing, and a stall some milliseconds of CPU.',
    takes: '5 minutes; --rounds 1',
    needsQuiet: true,
    shown: 'table `hang`',
  },
  {
    name: 'profiles',
    proves:
      'A CPU profile under load names the function that burns, keeps p99 as it is, and makes the gate reject nothing.',
    takes: '4 minutes; --runs 5',
    needsQuiet: true,
    shown: 'docs/decisions/0045-profiles-while-it-serves.md',
  },
  {
    name: 'loop-time',
    proves: 'What a route is said to cost the event loop is what a CPU profile of the same seconds finds.',
    takes: '2 minutes',
    needsQuiet: true,
    shown: 'table `loop-time`',
  },
  {
    name: 'chat',
    proves:
      'A chat on Socket.IO: healthy sessions are left alone, five times too many are refused, and watching a message costs at most 2 µs.',
    takes: '3 minutes',
    needsQuiet: true,
    shown: 'table `chat`',
  },
  {
    name: 'client-view',
    proves: 'Duration and `unreadMs` together are what clients see while the loop is blocked.',
    takes: '3 minutes',
    needsQuiet: true,
    shown: 'its output',
  },
  {
    name: 'restart',
    proves: 'A restart by SIGTERM under load loses no request.',
    takes: '1 minute',
    needsQuiet: false,
    shown: 'its output',
  },
  {
    name: 'rolling',
    proves: 'No request is lost while workers of a cluster are replaced, restarted or recycled.',
    takes: '5 minutes',
    needsQuiet: true,
    shown: 'its output',
  },
  {
    name: 'soak',
    proves: 'After a million requests with every kind of end, all are counted and nothing is left.',
    takes: '3 minutes',
    needsQuiet: false,
    shown: 'its output',
    nodeArgs: ['--expose-gc'],
  },
]

module.exports = { BENCHES }
