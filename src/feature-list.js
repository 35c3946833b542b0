'use strict'
// The features of an instance. core/features.js describes the properties of an entry.
//
// To remove a feature:
//   1. Delete its folder, its tests and its entry below. Turn its `@import` into `@typedef {any}`.
//   2. Delete what needs it: the entries that name it in `needs`, cli/ with admin/, and blocked-thread.js
//      with admin/ or stalls/.
//   3. Test the rest with `npm run without`.
//   4. Its name in `reads`, `Started` and UNUSED can stay, and so can its options and members.

/**
 * @import { Feature } from './core/features'
 * @import { Admin } from './features/admin/admin'
 * @import { Autoscaling } from './features/autoscaling/autoscaling'
 * @import { Balancer } from './features/balancer/balancer'
 * @import { Deadlines } from './features/deadlines/deadlines'
 * @import { Doctor } from './features/doctor/doctor'
 * @import { Membership } from './features/fleet/membership'
 * @import { Bulkheads } from './features/bulkheads/bulkheads'
 * @import { OpenTelemetry } from './features/opentelemetry/opentelemetry'
 * @import { OutgoingCalls } from './features/outgoing/outgoing-calls'
 * @import { Pools } from './features/pools/pools'
 * @import { Pressure } from './features/pressure/pressure'
 * @import { ReleaseHistory } from './features/releases/release-history'
 * @import { AbortSignals } from './features/abort-signals/abort-signals'
 * @import { Sockets } from './features/sockets/sockets'
 * @import { Stalls } from './features/stalls/stalls'
 * @import { Waste } from './features/waste/waste'
 */

/**
 * The features by name, once they have started.
 *
 * @typedef {{ admin: Admin, autoscaling: Autoscaling, balancer: Balancer, deadlines: Deadlines,
 *   doctor: Doctor, fleet: Membership, bulkheads: Bulkheads, opentelemetry: OpenTelemetry,
 *   outgoing: OutgoingCalls, pools: Pools, pressure: Pressure, releases: ReleaseHistory,
 *   'abort-signals': AbortSignals, sockets: Sockets, stalls: Stalls, waste: Waste }} Started
 */

/** Sections of `snapshot()` for features that have not started */
const UNUSED = {
  deadlines: null,
  outgoing: { hosts: [], folded: 0 },
  bulkheads: [],
  pools: [],
  releases: {
    current: {
      version: '',
      revision: '',
      since: '',
      until: null,
      requests: { count: 0, p50Ms: 0, p95Ms: 0, p99Ms: 0, errorRatio: 0, shedRatio: 0 },
    },
    previous: null,
    routes: [],
  },
  sockets: {
    connections: { open: 0, opened: 0, transports: [], closed: {}, refused: {}, held: 0, room: 1 },
    messages: { received: 0, receivedBytes: 0, sent: 0, sentBytes: 0 },
    events: [],
    folded: 0,
  },
  stalls: { count: 0, totalMs: 0, sites: [] },
}

/** @type {Feature[]} */
const FEATURES = [
  {
    name: 'releases',
    isOn: () => true,
    start: (instance) => require('./features/releases/release-history').releasesOf(instance),
    families: () => require('./features/releases/families').RELEASE_FAMILIES,
  },
  {
    name: 'outgoing',
    isOn: ({ insight }) => insight.outgoing,
    start: (instance) => require('./features/outgoing/outgoing-calls').outgoingOf(instance),
    families: () => require('./features/outgoing/families').OUTGOING_FAMILIES,
  },
  {
    name: 'deadlines',
    isOn: ({ proxy, deadline }) =>
      [proxy.requestStart, deadline.header, deadline.default, deadline.max, deadline.of].some(Boolean),
    start: (instance) => require('./features/deadlines/deadlines').deadlinesOf(instance),
    families: () => require('./features/deadlines/families').DEADLINE_FAMILIES,
  },
  {
    name: 'pools',
    start: (instance) => require('./features/pools/pools').poolsOf(instance),
    families: () => require('./features/pools/families').POOL_FAMILIES,
  },
  {
    name: 'abort-signals',
    reads: ['deadlines'],
    start: (instance) => require('./features/abort-signals/abort-signals').abortSignalsOf(instance),
  },
  {
    name: 'bulkheads',
    start: (instance) => require('./features/bulkheads/bulkheads').bulkheadsOf(instance),
    families: () => require('./features/bulkheads/families').BULKHEAD_FAMILIES,
  },
  {
    name: 'pressure',
    reads: ['pools'],
    isOn: ({ pressure }) => pressure.steps !== undefined,
    start: (instance) => require('./features/pressure/pressure').pressureOf(instance),
    families: () => require('./features/pressure/families').PRESSURE_FAMILIES,
  },
  {
    name: 'autoscaling',
    reads: ['pools'],
    isOn: () => true,
    start: (instance) => require('./features/autoscaling/autoscaling').autoscalingOf(instance),
    families: () => require('./features/autoscaling/families').AUTOSCALING_FAMILIES,
  },
  {
    name: 'balancer',
    needs: ['pressure'],
    reads: ['fleet'],
    isOn: ({ balancer, health }) => balancer.orca !== undefined || health.maxPressure > 0,
    start: (instance) => require('./features/balancer/balancer').balancerOf(instance),
  },
  {
    name: 'sockets',
    start: (instance) => require('./features/sockets/sockets').socketsOf(instance),
    families: () => require('./features/sockets/families').SOCKET_FAMILIES,
  },
  {
    name: 'stalls',
    reads: ['sockets'],
    isOn: ({ insight }) => insight.stalls !== false,
    start: (instance) => require('./features/stalls/stalls').stallsOf(instance),
    families: () => require('./features/stalls/families').STALL_FAMILIES,
  },
  {
    name: 'waste',
    isOn: ({ insight }) => insight.parts,
    start: (instance) => require('./features/waste/waste').wasteOf(instance),
    families: () => require('./features/waste/families').WASTE_FAMILIES,
  },
  {
    name: 'doctor',
    reads: ['outgoing', 'pools', 'releases', 'sockets', 'stalls', 'waste'],
    isOn: ({ insight }) => insight.doctor,
    start: (instance) => require('./features/doctor/doctor').doctorOf(instance),
    families: () => require('./features/doctor/families').DOCTOR_FAMILIES,
  },
  {
    name: 'fleet',
    reads: ['admin'],
    isOn: () => true,
    start: (instance) => require('./features/fleet/membership').membershipOf(instance),
  },
  {
    name: 'opentelemetry',
    isOn: () => true,
    start: (instance) => require('./features/opentelemetry/opentelemetry').openTelemetryOf(instance),
  },
  {
    name: 'admin',
    needs: ['doctor'],
    reads: ['fleet', 'stalls'],
    start: (instance) => require('./features/admin/admin').adminOf(instance),
  },
]

module.exports = { FEATURES, UNUSED }
