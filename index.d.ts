// The public types, kept by hand; test/types/conformance.ts fails when they and src/ part ways.
// Framework types are structural, so that none of Express, Koa or their type packages has to be installed.

import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import type { Http2SecureServer, Http2Server, Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { Server as HttpsServer } from 'node:https'
import type { LoggerOptions as PinoOptions } from 'pino'

/**
 * Starts measuring this process, and gives the middlewares that measure its requests. Keeps no process alive.
 *
 * @throws {SpillwayError} for an option that is unknown or has a value it cannot have
 */
export function createSpillway(options?: SpillwayOptions): Spillway

/**
 * Keeps workers of `node:cluster`, in the primary process: forks them, forks anew what has died, and replaces each before it
 * goes: those that `memory.recycleAt` has found too large, and all in turn on `restart()`. SIGTERM and SIGINT drain all
 * workers and end the process, SIGUSR2 restarts.
 *
 * @throws {SpillwayError} in a worker, a second time before `stop()`, and for an option that is unknown or has a value it cannot have
 */
export function clusterPrimary(options?: ClusterPrimaryOptions): ClusterPrimary

export interface ClusterPrimary {
  /**
   * Replaces all workers, one after the other: the new one first, then the old one drains and exits.
   *
   * @throws {SpillwayError} (rejects) when new workers die, or are not ready in time, one after the other; the old ones go on
   */
  restart(): Promise<void>

  /** Lets all workers drain and exit, and forks none any more. Resolves when all are gone. */
  stop(): Promise<void>

  /** The workers there are, and how many have been replaced, have crashed and had to be killed. */
  snapshot(): ClusterSnapshot

  /** Calls `listener` when something happens to a worker. */
  on<Event extends keyof ClusterPrimaryEvents>(
    event: Event,
    listener: (details: ClusterPrimaryEvents[Event]) => void
  ): void

  /** Takes a listener away. */
  off<Event extends keyof ClusterPrimaryEvents>(
    event: Event,
    listener: (details: ClusterPrimaryEvents[Event]) => void
  ): void
}

export interface ClusterPrimaryOptions {
  /**
   * How many, at least 1. Left out, as many as `os.availableParallelism()`.
   *
   * @default undefined
   */
  readonly workers?: number | undefined

  /**
   * The file a worker runs; left out, the one that was started.
   *
   * @default undefined
   */
  readonly exec?: string | undefined

  /**
   * Milliseconds a worker has until it listens and is ready; then it is killed and forked anew.
   *
   * @default 60000
   */
  readonly startTimeout?: number | undefined

  /**
   * Milliseconds a worker has to go when it was told to; then it is killed. More than `drain.delay` and `drain.timeout`.
   *
   * @default 30000
   */
  readonly killTimeout?: number | undefined

  /**
   * Whether SIGTERM and SIGINT stop it and end the process, and SIGUSR2 restarts the workers.
   *
   * @default true
   */
  readonly signals?: boolean | undefined

  /**
   * Where its few lines go, as in `createSpillway`.
   *
   * @default undefined
   */
  readonly logger?: Logger | PinoOptions | false | undefined
}

export interface ClusterPrimaryEvents {
  /** For the first time all workers are ready. */
  readonly ready: { readonly workers: number }
  /** A worker wants to be replaced. */
  readonly degraded: { readonly pid: number; readonly reason: string }
  /** Another has taken its place, and it has gone. */
  readonly replaced: { readonly pid: number; readonly reason: string; readonly durationMs: number }
  /** It has died of itself, and is forked anew. Without a `pid` it could not be spawned. */
  readonly crashed: {
    readonly pid: number | undefined
    readonly code: number | null
    readonly signal: string | null
    readonly uptimeMs: number
  }
}

export interface ClusterSnapshot {
  readonly workers: readonly {
    readonly id: number
    readonly pid: number
    readonly state: 'starting' | 'ready' | 'leaving'
    readonly uptimeSeconds: number
  }[]
  readonly replaced: number
  readonly crashed: number
  readonly killed: number
}

/** Fits the `MetricProducer` of `@opentelemetry/sdk-metrics` 2 and 3. */
export interface MetricProducer {
  collect(): Promise<{
    resourceMetrics: {
      /** Empty: a reader keeps its SDK's own. */
      resource: {
        attributes: Record<string, never>
        merge<Other>(other: Other): NonNullable<Other>
        getRawAttributes(): never[]
      }
      scopeMetrics: { scope: { name: string }; metrics: ProducedMetric[] }[]
    }
    errors: unknown[]
  }>
}

/** Totals since the instance was made, in the shape of the SDK's `MetricData`: 0 is a histogram, 2 a gauge, 3 a sum. */
export type ProducedMetric = {
  descriptor: { name: string; description: string; unit: string; valueType: 0 | 1 }
  aggregationTemporality: 1
} & (
  | { dataPointType: 0; dataPoints: ProducedPoint<ProducedHistogram>[] }
  | { dataPointType: 2; dataPoints: ProducedPoint<number>[] }
  | { dataPointType: 3; isMonotonic: boolean; dataPoints: ProducedPoint<number>[] }
)

export interface ProducedPoint<Value> {
  /** Seconds and nanoseconds. */
  startTime: [number, number]
  endTime: [number, number]
  attributes: Record<string, string | number>
  value: Value
}

export interface ProducedHistogram {
  buckets: { boundaries: number[]; counts: number[] }
  sum: number
  count: number
}

export interface Spillway {
  /**
   * The first middleware of Express 4 or 5, Connect, or Restify (`server.pre`): measures every request, admits or sheds
   * it, and answers the endpoints. As the first of an Express app that listens itself it sheds before Express sees the request, from
   * the second on. Takes nothing; it is typed so that `app.use(spillway.express)`, not called, does not compile.
   */
  express(...nothing: never[]): ExpressMiddleware

  /**
   * The first middleware of Koa 2 or 3: measures every request, and answers the endpoints, and the errors that no
   * middleware has caught (see `errors.answer`). Takes nothing.
   */
  koa(...nothing: never[]): KoaMiddleware

  /**
   * The last middleware of Express 4 or 5, or Connect: answers every error that is thrown or passed to `next`, counts it,
   * logs it, and tells the active span of OpenTelemetry. Takes nothing. `koa()` does the same by itself.
   */
  errorHandler(...nothing: never[]): ExpressErrorHandler

  /**
   * Makes what Express 4 does not see reach its error handlers: rejections of handlers, of `router.param` callbacks and of
   * error handlers. Holds for the whole process, and for routers made before. Does nothing to Express 5, which sees them.
   *
   * @param express what `require('express')` gives
   * @returns the same
   * @throws {SpillwayError} for anything else
   */
  catchAsync<Express>(express: Express): Express

  /**
   * Measures every request of this http, https or http2 server, before a framework spends any time on it. Use it
   * together with `express()` or `koa()`: a request is counted once. A second call does nothing; `close()` undoes it.
   * Of a Restify, Fastify, Socket.IO or hapi server, and of a Nest app, it takes the http server inside.
   *
   * @returns what it was given
   * @throws {SpillwayError} for anything else, such as an app that does not listen yet
   */
  attach<Server extends AttachableServer | ServerHolder>(server: Server, options?: AttachOptions): Server

  /** The same for a server that does not exist yet: `http.createServer(spillway.wrap(app))`. */
  wrap<Listener extends HttpListener>(listener: Listener): WrappedListener<Listener>
  /** For the compatibility API of http2, and for request and response classes of your own. */
  wrap<Req extends Request, Res extends Response>(
    listener: (req: Req, res: Res) => unknown
  ): (req: Req, res: Res) => void

  /**
   * What answers one endpoint, to mount where you like: `admin.get('/metrics', spillway.handler('metrics'))`. In Koa it is
   * given `ctx.req` and `ctx.res`, after `ctx.respond = false`.
   *
   * @throws {SpillwayError} for an unknown name
   */
  handler(name: HandlerName): Handler

  /**
   * Starts a server of its own with every endpoint, for operators: metrics, snapshot, health, releases and the options in force;
   * `/` lists them. It answers during overload and keeps no process alive; `close()` ends it. A failure is logged as well,
   * and unhandled it ends no process.
   *
   * @throws {SpillwayError} for a host other than a loopback one without a token, and for an option that is unknown or has a
   * value it cannot have; (rejects) where it cannot listen, such as for a port in use
   */
  listen(options?: ListenOptions): Promise<AdminAddress>

  /** With `health.manual`: traffic may come. `/readyz` says so from now on. */
  ready(): void

  /** What `/readyz` depends on. */
  readonly health: HealthChecks

  /** Everything known now of this process, or thread, as one frozen plain object. */
  snapshot(): Snapshot

  /**
   * The requests of all workers of the fleet, with the quantiles of all their answers together. A worker that does not answer
   * within a second takes part with its last known values. Without a fleet, the requests of this process alone.
   */
  fleetSnapshot(): Promise<FleetSnapshot>

  /**
   * The metrics for a reader of OpenTelemetry's SDK that takes a producer, histograms included:
   * `new PeriodicExportingMetricReader({ exporter, metricProducers: [spillway.metricProducer()] })`. It is one and the same
   * each time. Once asked for, the observable instruments show nothing any more, so that nothing is counted twice.
   */
  metricProducer(): MetricProducer

  /**
   * Changes what `shed` says while running, all or nothing: `spillway.update({ shed: { mode: 'observe' } })`.
   * What is not named stays; what is given as `undefined` goes back to its default. With mode `observe` or `off`, which turn
   * nobody away, those that wait are let in at once.
   *
   * @throws {SpillwayError} for an option that is unknown, has a value it cannot have, or is not of `shed`
   */
  update(options: { readonly shed: ShedOptions }): void

  /**
   * Ends the service without losing a request: `/readyz` says 503, after `delay` the servers stop listening, what is in
   * flight is finished, every answer closes its connection, idle connections are closed; after `timeout` what is left is
   * destroyed. Then it is closed, as by `close()`. A second call joins the first. The process goes on: to leave it is yours,
   * or `attach(server, { signals: true })`.
   *
   * @throws {SpillwayError} for an option that is unknown or has a value it cannot have
   */
  drain(options?: DrainOptions): Promise<DrainReport>

  /** Calls `listener` when an overload begins, when it is over, when the process is to be replaced, and when a drain begins. */
  on<Event extends keyof SpillwayEvents>(
    event: Event,
    listener: (details: SpillwayEvents[Event]) => void
  ): void

  /** Takes a listener away. */
  off<Event extends keyof SpillwayEvents>(
    event: Event,
    listener: (details: SpillwayEvents[Event]) => void
  ): void

  /**
   * Stops watching the process, lets go of servers and of the registry, and answers `/readyz` with 503. A middleware
   * still in use goes on passing requests. May be called again. During a drain it waits for the end of that.
   */
  close(): void

  /** The same as `close()`, for `using spillway = createSpillway()`. */
  [Symbol.dispose](): void
}

/** Every option has a default, which `undefined` stands for. An unknown option throws. 0 switches a limit off. */
export interface SpillwayOptions {
  /** The paths the middlewares answer themselves: GET and HEAD, any other method with 405. `false` is none of them. */
  readonly endpoints?: EndpointOptions | false | undefined
  /** How requests are grouped by route. */
  readonly routes?: RouteOptions | undefined
  /** What counts as the duration of a request. */
  readonly latency?: LatencyOptions | undefined
  /** What the metrics are called, and what they carry. */
  readonly metrics?: MetricsOptions | undefined

  /**
   * Requests to leave out of the metrics, of the access log and the lines of slow requests, and of shedding: of all three, or
   * of each by choice. Each is looked at once, as it comes. Of shedding: it is let in at once, as class `bypass` is. A drain
   * waits for it in any case, and what it costs the event loop is measured.
   *
   * @default undefined
   */
  readonly ignore?: IgnoreRules | IgnoreOptions | undefined
  /** When requests are turned away, which, and how. */
  readonly shed?: ShedOptions | undefined
  /** What becomes of errors. `false` is `{ answer: false }`. */
  readonly errors?: ErrorOptions | false | undefined
  /** What is logged of requests, and what a line shows of them. */
  readonly log?: LogOptions | undefined

  /** When `/readyz` says that traffic may come. */
  readonly health?: HealthOptions | undefined
  /** How long a drain takes. */
  readonly drain?: DrainOptions | undefined
  /** When the process has taken so much memory that another should take its place. */
  readonly memory?: MemoryOptions | undefined

  /** Which release this process is, and where its figures are kept for the next. */
  readonly release?: ReleaseOptions | undefined

  /**
   * Whether `/metrics` and `fleetSnapshot()` answer for all workers. By default they do among the workers of a cluster
   * (PM2's cluster mode too) and its primary, and among the threads of a process whose main thread has a spillway.
   * `true` also for threads whose main thread has none and for PM2's fork mode; a name for processes that nothing else
   * connects; `false` for this process or thread alone.
   *
   * @default undefined
   */
  readonly fleet?: boolean | FleetOptions | undefined

  /**
   * A registry of prom-client or @prometheus-io/client to put the metrics into, for an application that calls its
   * `metrics()` itself; `/metrics` shows it whole. Left out, `/metrics` shows the metrics with prom-client's global
   * `register`. A registry takes one instance.
   *
   * @default undefined
   */
  readonly registry?: MetricsRegistry | undefined

  /**
   * Where the lines go that this package logs: a logger such as a pino instance, whose child is used, or the options of a
   * pino of its own; `false` for nowhere. Left out, it is a pino of its own, made when the first line is written: pretty on a
   * terminal where the application has `pino-pretty`, silent under a test runner.
   *
   * @default undefined
   */
  readonly logger?: Logger | PinoOptions | false | undefined
}

/** A function of yours: whether who sent this request is answered by the endpoint it asks for. */
export type AllowFunction = { call(req: Request, endpoint: HandlerName): boolean }['call']

export interface EndpointOptions {
  /**
   * Path of the Prometheus metrics, or `false` to answer none: as text, OpenMetrics or protobuf, by the `Accept`
   * header. A query string is tolerated. Each format is rendered at most once a second, and scrapes meanwhile share it.
   *
   * @default '/metrics'
   */
  readonly metrics?: string | false | undefined

  /**
   * Path of the liveness probe, or `false` to answer none: 200 as long as the event loop turns, whatever the load.
   *
   * @default '/livez'
   */
  readonly live?: string | false | undefined

  /**
   * Path of the readiness probe, or `false` to answer none: 200, and 503 while a `health.check` fails, before `ready()` with
   * `health.manual`, during a drain and after `close()`.
   *
   * @default '/readyz'
   */
  readonly ready?: string | false | undefined

  /**
   * Who is answered on these paths, such as your Prometheus and your balancer alone. Anybody else finds nothing there: the
   * request goes on to the application, and is measured and gated as any other. It is called with each request for one of
   * the paths, and refuses where it throws or returns anything but `true`. With `express()` alone it gets Express's request,
   * else Node's. What you mount by `handler()`, and the admin server, do not ask it.
   *
   * @default undefined
   */
  readonly allow?: AllowFunction | undefined
}

export interface RouteOptions {
  /**
   * How many routes get series of their own, at least 1. Later ones share the label `routes.overflow`, each keeping
   * its method and status, and are counted.
   *
   * @default 1000
   */
  readonly max?: number | undefined

  /**
   * The route label of requests that no route took: never the URL.
   *
   * @default '(unmatched)'
   */
  readonly unmatched?: string | undefined

  /**
   * The route label of requests whose route came after `routes.max` others.
   *
   * @default '(other)'
   */
  readonly overflow?: string | undefined

  /**
   * Gives a request another route label, once, when its answer has ended. `template` is the route's own, `undefined`
   * where none took the request. Anything but a non-empty string leaves it; `routes.max` bounds what it returns.
   *
   * @default undefined
   */
  readonly label?: RouteLabel | undefined
}

export interface LatencyOptions {
  /**
   * Milliseconds, above 0, an answer's body may take after its head before it counts as a stream and goes into a
   * series of its own. Server-sent events always do.
   *
   * @default 10000
   */
  readonly streamAfter?: number | undefined

  /**
   * Adds `spillway_request_duration_seconds` by method and route, a native histogram of schema 3: a quantile of it is
   * off by less than 9.1 %, without bounds to choose. Prometheus takes these over protobuf alone, for which it asks
   * where native histograms are switched on.
   *
   * @default false
   */
  readonly nativeHistograms?: boolean | undefined
}

export interface MetricsOptions {
  /**
   * Bounds of `http_server_request_duration_seconds`, in seconds, as prom-client has them: 1 to 100, each above 0 and above the
   * one before. By default those that OpenTelemetry advises, and 1 and 2.5 ms.
   *
   * @default [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
   */
  readonly buckets?: readonly number[] | undefined

  /**
   * Whether `/metrics` has prom-client's default metrics as well. The delay of the event loop, garbage collection and the heap
   * then come under prom-client's names in place of OpenTelemetry's, so that nothing is there twice; so they do where your
   * registry has those metrics already.
   *
   * @default false
   */
  readonly defaults?: boolean | undefined

  /**
   * Labels of your own on the series of requests by route, such as the tenant: each is asked once, when the answer has ended.
   * In Koa it gets Node's request: put what it needs on `ctx.req`.
   *
   * @default undefined
   */
  readonly labels?: Readonly<Record<string, RequestLabel>> | undefined

  /**
   * How many values each of `labels` may take, 1 to 10000. Later ones share the value `routes.overflow`, and are counted.
   * `routes.max` bounds how many combinations of a method, a route and values there are.
   *
   * @default 100
   */
  readonly maxLabelValues?: number | undefined

  /**
   * What the names of our own metrics begin with in Prometheus: letters, digits and underscores that end with one. Those that
   * OpenTelemetry or Prometheus has named keep their names.
   *
   * @default 'spillway_'
   */
  readonly prefix?: string | undefined
}

/**
 * The value of a label for a request whose answer has ended; `undefined` for none. What throws or returns anything else gives
 * none, and is logged once. Longer than 256 characters it is cut.
 */
export type RequestLabel = {
  call(req: Request, res: Response): string | number | bigint | boolean | undefined
}['call']

/**
 * A path, without the query, as the client sent it: `'/healthz'` is that path alone. A RegExp is tested on the path. A
 * function gets the request as Node has it; what throws or returns a promise ignores nothing, and is logged once.
 */
export type IgnoreRule = string | RegExp | { call(req: Request): unknown }['call']
export type IgnoreRules = IgnoreRule | readonly IgnoreRule[]

export interface IgnoreOptions {
  /** In no metric, and in no figure of `snapshot()`; its list `oldest` has them. The gate counts what it rejects all the same. */
  readonly metrics?: IgnoreRules | undefined
  /** No line in the access log, none as a slow request, and not in `slowest` of `snapshot()`. Errors are logged all the same. */
  readonly log?: IgnoreRules | undefined
  /** Neither queued nor rejected. */
  readonly shed?: IgnoreRules | undefined
}

export interface HealthOptions {
  /**
   * Whether `/readyz` says 503 until `ready()` is called.
   *
   * @default false
   */
  readonly manual?: boolean | undefined
}

export interface MemoryOptions {
  /**
   * What the heap after a major collection, or resident memory, may come to: bytes, or up to 1 a share of the limit (of V8's
   * for the heap, or of `--max-old-space-size` where that is given, of the container's or the machine for all memory); 0 or `undefined` for no bound. Past it the
   * process drains and exits with 0, for its supervisor to start another. Each process lowers its own level by a random share of up to 10 %.
   *
   * @default undefined
   */
  readonly recycleAt?: number | undefined

  /**
   * How long it must stay above that, in milliseconds: at random between this and twice this.
   *
   * @default 30000
   */
  readonly recycleAfter?: number | undefined

  /**
   * Milliseconds no process is replaced for after its start. One that is above `recycleAt` by then needs that much: it
   * is left alone until it has grown further.
   *
   * @default 60000
   */
  readonly minUptime?: number | undefined
}

export interface ReleaseOptions {
  /**
   * Its version. Left out, `npm_package_version`, which npm sets to that of the application, or what the platform calls it.
   *
   * @default undefined
   */
  readonly version?: string | undefined

  /**
   * Its commit. Left out, it is taken from the variables of the usual platforms and CI systems, such as `GITHUB_SHA`.
   *
   * @default undefined
   */
  readonly revision?: string | undefined

  /**
   * Path of a small file that outlives the deploy: in it each release leaves its figures for `snapshot().releases` of the next.
   * Processes on one machine may share it: the one that has answered the most requests speaks for its release.
   *
   * @default undefined
   */
  readonly file?: string | undefined
}

export interface DrainOptions {
  /**
   * How a drain goes. `'production'`: nobody notices it; balancers get `delay`, and idle connections the time their clients were
   * promised. `'development'`: only requests in flight are finished. Idle connections, event streams and WebSockets are closed at once.
   *
   * Left out, it is `'production'` with NODE_ENV `production`, in Kubernetes and under PM2. Elsewhere it is `'development'` under
   * a watcher (`node --watch`, `tsx watch`, nodemon and others), with NODE_ENV `development` or `test`, and on SIGINT, unless
   * init, systemd or supervisord has started the process without a terminal. Anything else is `'production'`.
   *
   * @default undefined
   */
  readonly mode?: 'production' | 'development' | undefined

  /**
   * Milliseconds that requests in flight have to end, once the servers have stopped listening. In production, connections that
   * are idle are closed after a quarter of it, or after the server's `keepAliveTimeout` if that is shorter. Left out, it is
   * 20000, and 4000 in development.
   *
   * @default undefined
   */
  readonly timeout?: number | undefined

  /**
   * Milliseconds to go on as before while `/readyz` says 503 already, for balancers to notice. Left out, it is 5000 in
   * Kubernetes, which sends SIGTERM at the moment it begins to take a pod out of its endpoints, and 0 elsewhere. In
   * development there is none.
   *
   * @default undefined
   */
  readonly delay?: number | undefined
}

/** How a drain went. */
export interface DrainReport {
  /** Requests that were in flight still when the time was over, and were destroyed. */
  readonly cut: number
  readonly durationMs: number
}

export interface AttachOptions {
  /**
   * Whether SIGTERM, SIGINT and the message 'shutdown' of a parent process drain every instance in this process and then exit:
   * with 0, or with 1 if a request was cut. A second one exits at once. PM2 is told 'ready' when the server listens. Ctrl-C and
   * the restart of a watcher, SIGUSR2 of nodemon too, wait for requests in flight alone: see `drain.mode`.
   *
   * @default false
   */
  readonly signals?: boolean | undefined
}

export interface ListenOptions {
  /**
   * 0 is any that is free. In a cluster one worker has a port, the first that asks, and another once that has gone.
   *
   * @default 9464
   */
  readonly port?: number | undefined

  /**
   * The address to listen on. Any but a loopback one needs a token.
   *
   * @default '127.0.0.1'
   */
  readonly host?: string | undefined

  /**
   * What has to be sent as `Authorization: Bearer <token>`: at least 16 visible ASCII characters.
   *
   * @default undefined
   */
  readonly token?: string | undefined

  /**
   * Names it may be asked by besides the loopback ones, `host`, and the address a connection came to: such as that of a proxy,
   * with its port if that is another.
   *
   * @default []
   */
  readonly hosts?: readonly string[] | undefined

  /**
   * Milliseconds a client has to send its request, and may leave its answer unread. Until a request on it has been let in, a
   * connection has 1500 at most.
   *
   * @default 10000
   */
  readonly timeout?: number | undefined

  /**
   * How many connections it takes. For one more, the oldest on which no request has been let in is closed.
   *
   * @default 32
   */
  readonly maxConnections?: number | undefined

  /**
   * How many requests a second it answers; more get 429. Who has no token or asks by another name is counted apart.
   *
   * @default 20
   */
  readonly maxRequestsPerSecond?: number | undefined
}

/** Where the admin server listens. */
export interface AdminAddress {
  readonly host: string
  readonly port: number
  /** Such as `http://127.0.0.1:9464`. */
  readonly url: string
}

export interface HealthChecks {
  /**
   * Asks `check` when `/readyz` is asked: it fails if it throws, rejects, returns `false` or takes longer than `timeout`. All are
   * asked at the same time, and each once at a time: one that ignores its signal and never settles fails for good.
   *
   * @throws {SpillwayError} for a name that is taken, and for options it does not have
   */
  check(
    name: string,
    check: (given: { readonly signal: AbortSignal }) => unknown,
    options?: HealthCheckOptions
  ): void
}

export interface HealthCheckOptions {
  /**
   * Milliseconds, above 0 and up to 2147483647, after which the signal is aborted and the check has failed.
   *
   * @default 1000
   */
  readonly timeout?: number | undefined

  /**
   * Milliseconds an answer is kept.
   *
   * @default 1000
   */
  readonly cache?: number | undefined
}

/** `bypass` is neither queued nor turned away; of the others the last goes first. */
export type Priority = 'critical' | 'high' | 'normal' | 'low' | 'bypass'

/** Why a request was turned away. */
export type ShedReason =
  /** The event loop is full: the request would wait too long for it, or has. */
  | 'loop'
  /** As many are in flight as `shed.maxConcurrent` allows, and the request would wait too long, or has. */
  | 'concurrency'
  /** The heap in use after a major collection nears its limit. */
  | 'memory'
  | 'pressure'
  | 'deadline'
  | 'event_loop_delay'
  | 'event_loop_utilization'
  | 'heap_used_bytes'
  | 'rss_bytes'
  /** `close()` was called while it waited. */
  | 'closed'

/** What `shed.respond` and `shed.headers` get, and an `OverloadError` carries. */
export interface ShedVerdict {
  /** What is short. It is for logs: whoever is sent it could steer an attack by it. */
  readonly reason: ShedReason
  /** The class of the request; never `bypass`. */
  readonly priority: Priority
  /** What `Retry-After` says, a whole number. */
  readonly retryAfterSeconds: number
}

/**
 * A function of yours that gets a request. With `express()` it is Express's, with what middlewares before ours have put on it. With
 * `koa()` it is Node's, `ctx.req`; else it is Node's as it came.
 */
export type ShedFunction<Result> = { call(req: Request): Result }['call']

/** A function of yours: headers for the answer to a request that is turned away. */
export type ShedHeaders = {
  call(
    req: Request,
    verdict: ShedVerdict
  ): Readonly<Record<string, string | number | readonly string[] | undefined>> | undefined
}['call']

export interface ShedOptions {
  /**
   * How it decides. `adaptive` finds by itself what the process can serve in time; `threshold` goes by the `max…` options,
   * `pressure` and the heap's limit alone, and lets nobody wait; `observe` decides and counts but turns nobody away; `off` does
   * nothing.
   *
   * @default 'adaptive'
   */
  readonly mode?: 'adaptive' | 'threshold' | 'observe' | 'off' | undefined

  /**
   * Milliseconds a request may wait in the queue while the queue still drains between bursts.
   *
   * @default 200
   */
  readonly maxDelay?: number | undefined

  /**
   * Milliseconds a request may wait once the queue has not drained for `interval`.
   *
   * @default 150
   */
  readonly targetDelay?: number | undefined

  /**
   * Milliseconds without an empty queue after which `targetDelay` applies instead of `maxDelay`.
   *
   * @default 500
   */
  readonly interval?: number | undefined

  /**
   * How many requests may run at a time, at least 1; `undefined` for as many as the rules find.
   *
   * @default undefined
   */
  readonly maxConcurrent?: number | undefined

  /**
   * Milliseconds of event-loop delay past which all but bypass are turned away; 0 or `undefined` for no limit.
   *
   * @default undefined
   */
  readonly maxEventLoopDelay?: number | undefined

  /**
   * Share of the last `sampleInterval` the loop was busy, from 0 to 1, past which all but bypass are turned away; 0 is off.
   *
   * @default undefined
   */
  readonly maxEventLoopUtilization?: number | undefined

  /**
   * Bytes of heap in use past which all but bypass are turned away.
   *
   * @default undefined
   */
  readonly maxHeapUsedBytes?: number | undefined

  /**
   * Bytes of resident memory past which all but bypass are turned away.
   *
   * @default undefined
   */
  readonly maxRssBytes?: number | undefined

  /**
   * Milliseconds between two looks at the `max…` options.
   *
   * @default 1000
   */
  readonly sampleInterval?: number | undefined

  /**
   * The least number of seconds in `Retry-After`; a random one is added that grows with the overload, to at most 9.
   *
   * @default 1
   */
  readonly retryAfter?: number | undefined

  /**
   * The class of a request. What throws or returns anything else makes it `normal`, and is logged once.
   *
   * @default undefined
   */
  readonly classify?: ShedFunction<Priority> | undefined

  /**
   * Whose share of a full loop a request counts against: a tenant, an API key, an address. Each key gets an equal share before
   * any gets more. Requests without one share the empty key.
   *
   * @default undefined
   */
  readonly key?: ShedFunction<string | undefined> | undefined

  /**
   * How short something is that only you know of, from 0 to 1, such as the waiters of a database pool. Asked ten
   * times a second; that share is turned away, low first and critical never.
   *
   * @default undefined
   */
  readonly pressure?: (() => number) | undefined

  /**
   * The milliseconds a request has left, from a header you trust; one that would wait longer is turned away.
   *
   * @default undefined
   */
  readonly deadline?: ShedFunction<number | undefined> | undefined

  /**
   * Headers to add to the answer, such as those of CORS, without which a browser hides its status. One that is `undefined` is
   * left out.
   *
   * @default undefined
   */
  readonly headers?: ShedHeaders | undefined

  /**
   * Answers in place of this package. The status is 503 until it sets another; `Retry-After`, `Cache-Control` and what `headers`
   * returned are set. Where it returns `false`, or a promise of it, or throws, the standard answer is sent.
   *
   * @default undefined
   */
  readonly respond?: { call(req: Request, res: Response, verdict: ShedVerdict): unknown }['call'] | undefined

  /**
   * What becomes of a request that is turned away: `respond` answers it, `next` passes an `OverloadError` on to your error
   * handler, at the cost of the way there. A request that the server hook turns away is answered all the same.
   *
   * @default 'respond'
   */
  readonly errorMode?: 'respond' | 'next' | undefined
}

export interface ErrorOptions {
  /**
   * Whether `koa()` and `errorHandler()` answer errors. Without, they count, log and trace them, and pass them on: to Koa, and to
   * the next error handler of Express.
   *
   * @default true
   */
  readonly answer?: boolean | undefined

  /**
   * Milliseconds, above 0, from a request's arrival until the head of its answer; past them it is answered in the stead of its
   * handler, and what that does later has no effect. A function is asked ten times a second for each request that waits for its
   * answer, and may give `undefined` for none. An answer that has begun is left alone.
   *
   * @default undefined
   */
  readonly timeout?: number | TimeoutFunction | undefined

  /**
   * The status of that answer.
   *
   * @default 503
   */
  readonly timeoutStatus?: 503 | 504 | undefined

  /**
   * What becomes of exceptions and rejections that nobody caught, beside what Node does. `log` counts and logs them;
   * `logRequest` also says of which request they are, for which it keeps an AsyncLocalStorage; `drain` also answers that
   * request with 500, and has the process end with exit code 1 when the other requests in flight have their answers.
   *
   * @default 'log'
   */
  readonly uncaught?: 'log' | 'logRequest' | 'drain' | undefined
}

/** `route` is the template of the route that has the request by now, `null` where none has. */
export type TimeoutFunction = {
  call(
    req: Request,
    about: { readonly route: string | null; readonly priority: Priority }
  ): number | undefined
}['call']

export interface LogOptions {
  /**
   * Milliseconds past which a request gets a line of its own, streams excepted; `undefined` for none. After ten such
   * lines there is one a second, which says how many it stands for.
   *
   * @default undefined
   */
  readonly slowAfter?: number | undefined

  /**
   * How many of the slowest requests of each minute get a line, at most 100. `snapshot().slowest` has ten in any case.
   *
   * @default 0
   */
  readonly slowest?: number | undefined

  /**
   * Whether each request gets a line, in the shape of pino-http: of one that went well with the headers `host`, `user-agent`,
   * `content-type`, `content-length` and those in `headers`, else with all. Those that are turned away get a few that say
   * how many they stand for; the endpoints get none. An object switches it on and says more.
   *
   * @default false
   */
  readonly access?: boolean | AccessLogOptions | undefined

  /**
   * Names of headers whose values lines may show, beside those that are harmless. Refuses authorization, cookie,
   * proxy-authorization and set-cookie.
   *
   * @default undefined
   */
  readonly headers?: readonly string[] | undefined

  /**
   * Whether lines show the query of a URL. Values of keys such as `token` or `password`, and values that look like a token, read
   * `[Redacted]`.
   *
   * @default false
   */
  readonly query?: boolean | undefined
}

/** Which level a line has: any of pino's, and `silent` for no line. */
export type AccessLogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

/** A function that throws, or returns something else, is counted and logged once; the line is what it would be without. */
export interface AccessLogOptions {
  /**
   * Further fields of a line, as `customProps` of pino-http. Those of the line itself stay.
   *
   * @default undefined
   */
  readonly fields?: { call(req: Request, res: Response): object | undefined }['call'] | undefined

  /**
   * The level of a line, as `customLogLevel` of pino-http; `undefined` for the usual one.
   *
   * @default undefined
   */
  readonly level?: { call(req: Request, res: Response): AccessLogLevel | undefined }['call'] | undefined

  /**
   * Requests without a line, as `autoLogging.ignore` of pino-http: a path, a regular expression on the path, a function, or a
   * list of these. The option `ignore` leaves them out of the metrics as well.
   *
   * @default undefined
   */
  readonly ignore?: IgnoreRules | undefined
}

export interface SpillwayEvents {
  /** The first request has been turned away. */
  readonly overload: { readonly reason: ShedReason }
  /** None has been for a second. */
  readonly recovered: {
    /** Of the first that was turned away. */
    readonly reason: ShedReason
    /** From the first to the last: 0 for one alone. */
    readonly durationMs: number
    readonly rejected: number
  }
  /** It has been above `memory.recycleAt` for `memory.recycleAfter`, and will drain and exit. */
  readonly degraded: {
    readonly reason: 'heap' | 'rss'
    readonly usedBytes: number
    /** What `recycleAt` comes to here. */
    readonly levelBytes: number
  }
  /** A drain has begun: tell those of your streams and WebSockets to go that would not end by themselves. */
  readonly draining: {
    /** What began it, such as 'SIGTERM', or 'drain' for a call of `drain()`. */
    readonly reason: string
    readonly mode: 'production' | 'development'
    readonly delayMs: number
    readonly timeoutMs: number
  }
}

/** The options with their defaults filled in, as `createSpillway` uses them. */
export interface ResolvedOptions {
  readonly endpoints: Readonly<Record<HandlerName, string | false>> & {
    readonly allow: AllowFunction | undefined
  }
  readonly routes: {
    readonly max: number
    readonly unmatched: string
    readonly overflow: string
    readonly label: RouteLabel | undefined
  }
  readonly latency: { readonly streamAfter: number; readonly nativeHistograms: boolean }
  readonly metrics: {
    readonly buckets: readonly number[]
    readonly defaults: boolean
    readonly labels: Readonly<Record<string, RequestLabel>> | undefined
    readonly maxLabelValues: number
    readonly prefix: string
  }
  readonly ignore: IgnoreRules | IgnoreOptions | undefined
  readonly memory: {
    readonly recycleAt: number | undefined
    readonly recycleAfter: number
    readonly minUptime: number
  }
  readonly shed: Readonly<
    Pick<
      ShedOptions,
      | 'maxConcurrent'
      | `max${'EventLoopDelay' | 'EventLoopUtilization' | 'HeapUsedBytes' | 'RssBytes'}`
      | 'classify'
      | 'key'
      | 'pressure'
      | 'deadline'
      | 'headers'
      | 'respond'
    > & {
      mode: NonNullable<ShedOptions['mode']>
      maxDelay: number
      targetDelay: number
      interval: number
      sampleInterval: number
      retryAfter: number
      errorMode: NonNullable<ShedOptions['errorMode']>
    }
  >
  readonly errors: {
    readonly answer: boolean
    readonly timeout: number | TimeoutFunction | undefined
    readonly timeoutStatus: 503 | 504
    readonly uncaught: NonNullable<ErrorOptions['uncaught']>
  }
  readonly health: { readonly manual: boolean }
  readonly drain: {
    readonly mode: 'production' | 'development' | undefined
    readonly timeout: number | undefined
    readonly delay: number | undefined
  }
  readonly fleet: boolean | FleetOptions | undefined
  readonly log: {
    readonly slowAfter: number | undefined
    readonly slowest: number
    readonly access: boolean | AccessLogOptions
    readonly headers: readonly string[] | undefined
    readonly query: boolean
  }
  readonly release: {
    readonly version: string | undefined
    readonly revision: string | undefined
    readonly file: string | undefined
  }
  readonly registry: MetricsRegistry | undefined
  readonly logger: Logger | PinoOptions | false | undefined
}

export interface FleetOptions {
  /** What the members have in common, in place of their parent process: up to 32 letters, digits, dots and dashes. */
  readonly name?: string | undefined
  /** Where the private directory of the fleet is made, in place of the one for temporary files. */
  readonly directory?: string | undefined
}

/**
 * Takes lines as pino does: fields first, then a sentence. One with `child` is asked for a child with `component:
 * 'spillway'`; one without `info` is told by `warn`. winston, which takes them otherwise, is told in its way.
 */
export interface Logger {
  info?(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** What a registry of prom-client or @prometheus-io/client has in common. */
export interface MetricsRegistry {
  // biome-ignore lint/suspicious/noExplicitAny: each client has a class of its own here
  registerMetric(metric: any): void
  getSingleMetric(name: string): unknown
  removeSingleMetric(name: string): void
  getMetricsAsArray(): readonly unknown[]
  metrics(): Promise<string>
}

/** `metrics`, and the answers for an orchestrator: alive, and ready for traffic. */
export type HandlerName = 'metrics' | 'live' | 'ready'

export type Request = IncomingMessage | Http2ServerRequest
export type Response = ServerResponse | Http2ServerResponse

export type Handler = (req: Request, res: Response) => void

/** The type of a method, so that `req` and `res` may be annotated with the classes of your framework. */
export type RouteLabel = {
  label(req: Request, res: Response, template: string | undefined): string | undefined
}['label']

export type HttpListener = (req: IncomingMessage, res: ServerResponse) => unknown

/** A listener that takes http2's requests too, such as Koa's, still does. */
export type WrappedListener<Listener extends HttpListener> = Listener extends Handler
  ? Handler
  : (req: IncomingMessage, res: ServerResponse) => void

export type ExpressMiddleware = (req: Request, res: Response, next: (error?: unknown) => void) => void

export type ExpressErrorHandler = (
  error: unknown,
  req: Request,
  res: Response,
  next: (error?: unknown) => void
) => void

export type KoaMiddleware = (
  ctx: { readonly req: Request; readonly res: Response },
  next: () => Promise<unknown>
) => Promise<unknown> | undefined

// biome-ignore lint/suspicious/noExplicitAny: a server of any request and response class
export type AttachableServer = HttpServer<any, any> | HttpsServer<any, any> | Http2Server | Http2SecureServer

/** What keeps its http server inside: Restify and Fastify, Socket.IO, hapi, Nest. */
export type ServerHolder =
  | { readonly server: AttachableServer }
  | { readonly httpServer: AttachableServer }
  | { readonly listener: AttachableServer }
  // biome-ignore lint/suspicious/noExplicitAny: Nest does not say which
  | { getHttpServer(): any }

/**
 * How a request ended. `completed`: the whole answer was handed to the connection, with a status below 500.
 * `errored`: a status of 500 or more, or the server cut the answer off. `aborted`: the client left before the answer
 * was whole. `upgraded`: the connection was handed to another protocol. `timed_out`: its handler had not answered within
 * `errors.timeout`.
 */
export type Outcome = 'completed' | 'errored' | 'aborted' | 'upgraded' | 'timed_out'

/** Everything known at one moment. Durations in milliseconds, sizes in bytes, ratios from 0 to 1. */
export interface Snapshot {
  /** When it was taken, in ISO 8601. */
  readonly at: string
  /** Seconds since `createSpillway()`. */
  readonly uptimeSeconds: number
  /** All requests together. */
  readonly requests: {
    readonly inFlight: number
    /** Over the last half minute to minute. */
    readonly lastMinute: LatencySummary
    readonly sinceStart: LatencySummary
  }
  /** One entry per method and route, in the order first seen. */
  readonly routes: readonly RouteSnapshot[]
  /** Requests whose route label became `routes.overflow`. */
  readonly routesFolded: number
  /**
   * The ten requests longest in flight, the eldest first: those that wait for an answer before those that are being answered,
   * such as event streams.
   */
  readonly oldest: readonly RequestInFlight[]
  /** Exceptions and rejections that nobody caught. */
  readonly processErrors: Readonly<Record<'uncaughtException' | 'unhandledRejection', number>>
  /** What came on a connection of an attached server and was no HTTP request: how often, by the code of its error. */
  readonly clientErrors: Readonly<Record<string, number>>
  /** The ten slowest of the last one to two minutes, streams excepted, the slowest first. */
  readonly slowest: readonly SlowRequest[]
  /** Who was let in and who was not. */
  readonly admission: AdmissionSnapshot
  /** Errors that reached `errorHandler()` or `koa()`, in the order first seen; no client's leaving, and nobody turned away. */
  readonly errors: readonly ErrorCount[]
  /** How the process feels. */
  readonly signals: SignalsSnapshot
  /** Failures inside this package, or in a callback it was given, which it survived: how many, by place. */
  readonly internalErrors: Readonly<Record<string, number>>
  /** This release beside the one before it. */
  readonly releases: ReleasesSnapshot
}

export interface ReleasesSnapshot {
  /** This process. */
  readonly current: ReleaseSnapshot
  /** From `release.file`: of that release, the process that has answered the most requests. `null` where none is known. */
  readonly previous: ReleaseSnapshot | null
  /** Those that both have answered, of the fifty routes with the most requests in the one before. */
  readonly routes: readonly {
    readonly method: string
    readonly route: string
    readonly current: ReleaseFigures
    readonly previous: ReleaseFigures
  }[]
}

export interface ReleaseSnapshot {
  /** Empty where nothing tells, as is `revision`. */
  readonly version: string
  readonly revision: string
  /** When the first process of it began, in ISO 8601. */
  readonly since: string
  /** When its figures were taken; `null` for now. */
  readonly until: string | null
  readonly requests: ReleaseFigures
}

/** Of one process since its start. A quantile of nothing is 0. */
export interface ReleaseFigures {
  readonly count: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
  /** Share of `count` whose outcome was `errored` or `timed_out`. */
  readonly errorRatio: number
  /** Of all that came, those turned away, which are not in `count`. Of a route it is a guess: see `RouteSnapshot.shed`. */
  readonly shedRatio: number
}

/** A quantile of nothing is 0. */
export interface LatencySummary {
  /** Requests, streams included. */
  readonly count: number
  /** Of the last minute: over the last 30 to 60 s, idle or not, or over the time since the start where that is shorter. */
  readonly ratePerSecond: number
  /** Share of `count` whose outcome was `errored` or `timed_out`. */
  readonly errorRatio: number
  readonly p50Ms: number
  readonly p90Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  readonly maxMs: number
}

export interface RouteSnapshot {
  /** As OpenTelemetry lists them; any other method is `_OTHER`. */
  readonly method: string
  /** The route's template, such as `/users/:id`. */
  readonly route: string
  /** Over the last half minute to minute. */
  readonly lastMinute: LatencySummary
  readonly sinceStart: LatencySummary
  readonly outcomes: Readonly<Record<Outcome, number>>
  /** Mean time until the head of the answer was written. */
  readonly firstByteMeanMs: number
  /** Received by the connection, heads included. */
  readonly requestBytes: number
  /** Sent by the connection, heads included. */
  readonly responseBytes: number
  /** Event streams and other long bodies, which are in no quantile. */
  readonly streams: { readonly count: number; readonly totalSeconds: number }
  /**
   * Requests turned away that would have come here, by a guess: no router has seen them, so it is told from the URL and the
   * templates that have answered before, and where they are many one of sixteen stands for all. None for regular expressions
   * and your own labels.
   */
  readonly shed: number
}

/** Nothing of it is the client's: no URL, header or body. */
export interface RequestInFlight {
  /** As OpenTelemetry lists them; any other method is `_OTHER`. */
  readonly method: string
  /** The template of the route that has it by now, before `routes.label`; `null` where none has. */
  readonly route: string | null
  readonly ageMs: number
  /** In the gate's queue, with its handler, or with the head of its answer sent. */
  readonly state: 'queued' | 'running' | 'answering'
}

/** What the workers of a fleet have in common. Durations in milliseconds, sizes in bytes, ratios from 0 to 1. */
export interface FleetSnapshot {
  /** When it was taken, in ISO 8601. */
  readonly at: string
  /** Those that are there, this one first. */
  readonly workers: readonly WorkerSnapshot[]
  /** Workers whose reports are of a version that this one does not understand; they are in no number. */
  readonly unreadable: number
  /** Workers that have ended; what they have counted is part of every `sinceStart`. */
  readonly departed: number
  /** All requests together. */
  readonly requests: Snapshot['requests']
  /** One entry per method and route. */
  readonly routes: readonly RouteSnapshot[]
}

export interface WorkerSnapshot {
  /** As in the label `worker`: the id in the cluster, PM2's instance, `primary`, `main`, with the thread's after a dot. */
  readonly worker: string
  readonly pid: number
  /** `silent`: has not answered in time, and takes part with its last report. */
  readonly state: 'live' | 'silent'
  /** When it made the report shown, in ISO 8601. */
  readonly reportedAt: string
}

export interface SlowRequest {
  /** When it had ended, in ISO 8601. */
  readonly at: string
  readonly method: string
  readonly route: string
  /** `null` where no answer was begun. */
  readonly status: number | null
  readonly outcome: Outcome
  readonly durationMs: number
  /** How long it waited in our queue. */
  readonly queueMs: number
  /** Until the head of its answer was written; `null` where none was. */
  readonly firstByteMs: number | null
  /** The longest turn of the event loop while it was in flight. */
  readonly loopDelayMs: number
  /** What the application calls it (`req.id`), or its client does (`x-request-id`). */
  readonly requestId: string | number | null
  readonly traceId: string | null
}

/** Of those the gate decides on: who is of class `bypass`, or comes in mode `off`, is in no number here. */
export interface AdmissionSnapshot {
  readonly mode: NonNullable<ShedOptions['mode']>
  /** Whether requests are being turned away. */
  readonly isOverloaded: boolean
  /** Let in and not ended. */
  readonly inFlight: number
  /** In the queue. */
  readonly waiting: number
  /** How many may be in flight; `null` for no limit now. */
  readonly limit: number | null
  /** What limits them now; `null` for no limit. */
  readonly limitedBy: 'loop' | 'concurrency' | null
  /** What a request costs the event loop. */
  readonly costMs: number
  readonly admitted: number
  /** Left while they waited. */
  readonly abandoned: number
  readonly shed: readonly ShedCount[]
  /** In mode `observe`. */
  readonly wouldShed: readonly ShedCount[]
  /** Rejections sent late, because their clients ask again at once. */
  readonly answeredLate: number
  /** Thresholds that what was seen so far suggests; `null` before it has seen a thousand requests. */
  readonly advice: { readonly maxEventLoopDelay: number; readonly maxConcurrent: number } | null
}

export interface ShedCount {
  readonly reason: ShedReason
  readonly priority: Priority
  readonly count: number
}

export interface ErrorCount {
  readonly route: string
  /** Of its answer, 400 to 599. */
  readonly status: number
  /** The class of the error; for a plain `Error` its code, such as `ECONNREFUSED`. */
  readonly type: string
  readonly count: number
}

export interface SignalsSnapshot {
  readonly loop: {
    /** How long a turn kept the loop from its events, over the last half minute to minute. */
    readonly delayMs: Readonly<Record<'min' | 'max' | 'mean' | 'stddev' | 'p50' | 'p90' | 'p99', number>>
    /** Share of the last half minute to minute the loop was busy. */
    readonly utilization: number
  }
  readonly cpu: {
    /** Of the last half minute to minute; above 1 where more than one core was busy. */
    readonly utilization: number
    /** Since the process began. */
    readonly userSeconds: number
    /** Since the process began. */
    readonly systemSeconds: number
  }
  readonly heap: {
    readonly usedBytes: number
    readonly totalBytes: number
    /** The size at which V8 gives up. */
    readonly limitBytes: number
    /** In use after the last major collection; `null` before the first. */
    readonly afterGcBytes: number | null
    readonly trend: HeapTrendSnapshot
    readonly spaces: readonly HeapSpaceSnapshot[]
  }
  readonly memory: {
    readonly rssBytes: number
    /** The limit of the container, or the memory of the machine. */
    readonly limitBytes: number
    readonly externalBytes: number
  }
  /** Garbage collection pauses. */
  readonly collections: Readonly<Record<CollectionKind, { readonly count: number; readonly totalMs: number }>>
}

/**
 * Whether the heap leaks, by its size after major collections. `growing`: it has risen for minutes to a day, with a
 * confidence of 0.999, in each quarter of the window, not mostly in one jump, and ends higher than ever before. A cache that
 * fills steadily grows too, until it slows. `unknown`: there were too few collections.
 */
export interface HeapTrendSnapshot {
  readonly verdict: 'none' | 'growing' | 'unknown'
  /** `null` when `unknown`, as are the next two. */
  readonly megabytesPerHour: number | null
  /** That it rises at all is no chance: from 0 to 1. */
  readonly confidence: number | null
  readonly windowSeconds: number | null
  /** When it will be at V8's limit, or the container's; `null` unless `growing`. */
  readonly secondsToLimit: number | null
}

export interface HeapSpaceSnapshot {
  /** V8's name, such as `old_space`. */
  readonly name: string
  readonly usedBytes: number
  readonly sizeBytes: number
  readonly availableBytes: number
  readonly physicalBytes: number
}

export type CollectionKind = 'minor' | 'major' | 'incremental' | 'weakcb'

/** What this package throws at its user. Match on `code`: it is stable, the sentence is not. */
export class SpillwayError extends Error {
  constructor(code: ErrorCode, message: string)
  readonly code: ErrorCode
}

/** What `shed.errorMode: 'next'` passes on. It carries what Express and Koa look for in an error. */
export class OverloadError extends SpillwayError {
  constructor(verdict: ShedVerdict)
  readonly status: 503
  readonly statusCode: 503
  readonly expose: true
  readonly reason: ShedReason
  readonly priority: Priority
  readonly retryAfterSeconds: number
  readonly headers: Readonly<Record<string, string>>
}

export type ErrorCode =
  /** A request was turned away: see `OverloadError`. */
  | 'ERR_SPILLWAY_OVERLOADED'
  /** An option cannot be changed while running. */
  | 'ERR_SPILLWAY_FIXED_OPTION'
  /** There is a health check of this name already. */
  | 'ERR_SPILLWAY_CHECK_TAKEN'
  /** There is no event of this name. */
  | 'ERR_SPILLWAY_UNKNOWN_EVENT'
  /** An option has a value it cannot have. */
  | 'ERR_SPILLWAY_OPTION_VALUE'
  /** There is no option of this name. */
  | 'ERR_SPILLWAY_UNKNOWN_OPTION'
  /** `handler()` was asked for a name it does not have. */
  | 'ERR_SPILLWAY_UNKNOWN_HANDLER'
  /** The registry holds another instance's metrics, or one of the same name. */
  | 'ERR_SPILLWAY_REGISTRY_TAKEN'
  /** The admin server cannot listen: the port is in use, or it listens already, or is closed. */
  | 'ERR_SPILLWAY_LISTEN'
  /** The admin server would answer strangers. */
  | 'ERR_SPILLWAY_TOKEN'
  /** A rolling restart was given up, because new workers died or were not ready in time. */
  | 'ERR_SPILLWAY_RESTART'
  /** A middleware was used in the wrong framework, or not called, or its factory was given arguments. */
  | 'ERR_SPILLWAY_MISUSE'
