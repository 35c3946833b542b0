// An ES module whose own types are made file by file: every export has its type, and each has a name.

import http from 'node:http'
import {
  type AdminAddress,
  type ClusterPrimary,
  clusterPrimary,
  createSpillway,
  type Diagnosis,
  type ExpressErrorHandler,
  type ExpressMiddleware,
  type FleetSnapshot,
  type Handler,
  type KoaMiddleware,
  type LimitMiddleware,
  type LimitOptions,
  type MetricProducer,
  OverloadError,
  type PoolHandle,
  type Priority,
  type Request,
  type Response,
  type ShedOptions,
  type Snapshot,
  type Spillway,
  SpillwayError,
  type SpillwayEvents,
  type SpillwayOptions,
} from 'spillway'
import 'spillway/async-errors'

/** Settings from the environment are `undefined` where they are not set. */
export interface Settings {
  readonly delay: number | undefined
  readonly mode: ShedOptions['mode']
  readonly wait: number | undefined
}

export const options = ({ delay, mode }: Settings): SpillwayOptions => ({
  shed: {
    mode,
    maxDelay: delay,
    classify: (req: Request): Priority => (req.url === '/' ? 'high' : 'normal'),
  },
  drain: { timeout: delay },
  routes: { label: (_req: Request, _res: Response, template: string | undefined) => template },
})
export const limitOptions = ({ wait }: Settings): LimitOptions => ({
  name: 'reports',
  maxConcurrent: 4,
  maxWait: wait,
  maxQueue: undefined,
  key: undefined,
})

export const spillway: Spillway = createSpillway(options({ delay: undefined, mode: undefined, wait: 1 }))
export const first: ExpressMiddleware = spillway.express()
export const last: ExpressErrorHandler = spillway.errorHandler()
export const koa: KoaMiddleware = spillway.koa()
export const few: LimitMiddleware = spillway.limit(limitOptions({ delay: 1, mode: 'off', wait: undefined }))
export const metrics: Handler = spillway.handler('metrics')
export const pool: PoolHandle = spillway.pool('own', { size: 1, idle: 0, waiting: 0, max: undefined }, {})
export const server: http.Server = spillway.attach(http.createServer(), { signals: undefined })
export const snapshot: Snapshot = spillway.snapshot()
export const diagnosis: Diagnosis = spillway.diagnose()
export const fleet: Promise<FleetSnapshot> = spillway.fleetSnapshot()
export const producer: MetricProducer = spillway.metricProducer()
export const listening: Promise<AdminAddress> = spillway.listen({ token: undefined, blockedPort: undefined })
export const primary: ClusterPrimary = clusterPrimary({ workers: undefined })

export function onOverload({ reason, value }: SpillwayEvents['overload']): string {
  return `${reason} ${value ?? 'none'}`
}
spillway.on('overload', onOverload)

export function codeOf(error: unknown): string | undefined {
  if (error instanceof OverloadError) return `${error.code} ${error.headers['retry-after'] ?? ''}`
  return error instanceof SpillwayError ? error.code : undefined
}
