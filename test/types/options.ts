// The options as a strict user writes them, and the ways to get them wrong that the compiler sees.

import * as prometheusIo from '@prometheus-io/client'
import { expectTypeOf } from 'expect-type'
import pino from 'pino'
import * as promClient from 'prom-client'
import {
  createSpillway,
  type ErrorCode,
  type HandlerName,
  type MetricsRegistry,
  type Request,
  type Response,
  type RouteLabel,
  SpillwayError,
  type SpillwayOptions,
} from 'spillway'

createSpillway()
createSpillway({})
createSpillway({
  endpoints: {
    metrics: '/internal/metrics',
    live: false,
    ready: false,
    allow(req, endpoint) {
      expectTypeOf(req).toEqualTypeOf<Request>()
      expectTypeOf(endpoint).toEqualTypeOf<HandlerName>()
      return endpoint !== 'metrics' || req.socket.remoteAddress === '127.0.0.1'
    },
  },
  routes: {
    max: 200,
    unmatched: 'none',
    overflow: 'other',
    label(req, res, template) {
      expectTypeOf(req).toEqualTypeOf<Request>()
      expectTypeOf(res).toEqualTypeOf<Response>()
      expectTypeOf(template).toEqualTypeOf<string | undefined>()
      return req.headers['x-job'] === undefined ? template : 'job'
    },
  },
  latency: { streamAfter: 5000, nativeHistograms: true },
  metrics: {
    buckets: [0.01, 0.1, 1] as const,
    defaults: true,
    labels: {
      tenant(req, res) {
        expectTypeOf(req).toEqualTypeOf<Request>()
        expectTypeOf(res).toEqualTypeOf<Response>()
        return req.headers.host
      },
      shard: () => 7,
    },
    maxLabelValues: 20,
    prefix: 'shop_',
  },
  ignore: ['/healthz', /^\/assets\//, (req) => req.method === 'OPTIONS'],
})
createSpillway({ ignore: '/healthz' })
createSpillway({ ignore: { metrics: /x/, log: ['/healthz'] as const, shed: (req) => req.url === '/' } })
createSpillway({ metrics: { buckets: undefined, labels: undefined }, ignore: undefined })

// `undefined` is the default, also under exactOptionalPropertyTypes: settings come from the environment.
declare const settings: { path: string | undefined; max: number | undefined; label: RouteLabel | undefined }
createSpillway({
  endpoints: { metrics: settings.path },
  routes: { max: settings.max, label: settings.label },
})
createSpillway({
  endpoints: undefined,
  routes: undefined,
  latency: undefined,
  fleet: undefined,
  registry: undefined,
  logger: undefined,
})

// Headers beside a 503: one that the request has, if it has it, some at a time, or none.
createSpillway({
  shed: {
    headers: (req) => ({
      'access-control-allow-origin': req.headers.origin,
      vary: ['origin', 'accept'],
      age: 0,
    }),
  },
})
createSpillway({
  shed: { headers: (req) => (req.headers.origin === undefined ? undefined : { 'x-a': 'b' }) },
})
// @ts-expect-error nobody waits for a promise
createSpillway({ shed: { headers: async () => ({}) } })
createSpillway({ shed: { headers: (_req, { priority }) => ({ 'x-priority': priority }) } })

// An answer of one's own: given at once, late, or not at all.
createSpillway({ shed: { respond: (_req, res) => res.end() } })
createSpillway({ shed: { respond: async (_req, _res, { retryAfterSeconds }) => retryAfterSeconds > 5 } })
createSpillway({ shed: { respond: () => false } })

// Registries of both clients, and loggers.
createSpillway({ fleet: false })
createSpillway({ fleet: { name: 'shop', directory: '/run/shop' } })
// @ts-expect-error a fleet is named by a string
createSpillway({ fleet: { name: 1 } })
createSpillway({ registry: promClient.register })
createSpillway({ registry: new promClient.Registry() })
createSpillway({ registry: prometheusIo.register })
createSpillway({ registry: new prometheusIo.Registry() })
expectTypeOf<promClient.Registry>().toExtend<MetricsRegistry>()
createSpillway({ logger: pino() })
createSpillway({ logger: pino().child({ part: 'metrics' }) })
createSpillway({ logger: console })
createSpillway({ logger: false })
createSpillway({ logger: { level: 'warn', base: { service: 'shop' } } })
createSpillway({
  log: { slowAfter: 1000, slowest: 5, access: true, headers: ['x-tenant'] as const, query: true },
})
createSpillway({ log: { slowAfter: undefined, headers: undefined } })

const frozen: SpillwayOptions = Object.freeze({ routes: Object.freeze({ max: 1 }) })
createSpillway(frozen)

// @ts-expect-error unknown group
createSpillway({ route: {} })
// @ts-expect-error unknown option
createSpillway({ routes: { maximum: 1 } })
// @ts-expect-error a number
createSpillway({ routes: { max: '1000' } })
// @ts-expect-error null is not the default
createSpillway({ routes: { max: null } })
// @ts-expect-error only false switches an endpoint off
createSpillway({ endpoints: { metrics: true } })
// @ts-expect-error a promise is no answer
createSpillway({ endpoints: { allow: async () => true } })
// @ts-expect-error a label is a string
createSpillway({ routes: { label: () => 1 } })
// @ts-expect-error bounds are numbers
createSpillway({ metrics: { buckets: ['0.1'] } })
// @ts-expect-error a label is no object
createSpillway({ metrics: { labels: { tenant: () => ({}) } } })
// @ts-expect-error there is no such part
createSpillway({ ignore: { tracing: '/healthz' } })
// @ts-expect-error a registry can register
createSpillway({ registry: { metrics: async () => '' } })
createSpillway({
  log: {
    access: {
      fields: (req, res) => ({ tenant: req.headers['x-tenant'], status: res.statusCode }),
      level: (_req, res) => (res.statusCode === 404 ? 'info' : undefined),
      ignore: ['/favicon.ico', /^\/static\//, (req) => req.method === 'HEAD'],
    },
  },
})
// @ts-expect-error there is no such level
createSpillway({ log: { access: { level: () => 'loud' } } })
// @ts-expect-error there is one shape of access log
createSpillway({ log: { access: 'combined' } })
// @ts-expect-error a logger can write errors
createSpillway({ logger: { warn() {} } })
// @ts-expect-error options are an object
createSpillway('/metrics')

try {
  createSpillway()
} catch (error) {
  if (error instanceof SpillwayError) {
    expectTypeOf(error).toExtend<Error>()
    expectTypeOf(error.code).toEqualTypeOf<ErrorCode>()
    // @ts-expect-error no such code
    if (error.code === 'ERR_SPILLWAY_UNKNOWN') throw error
  }
}
