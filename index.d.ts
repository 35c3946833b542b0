// The public types, maintained by hand. test/types/conformance.ts fails if they and src/ differ. Framework
// types are structural: neither Express nor Koa, nor their type packages, need to be installed. Each option
// has its default, an example and its page in docs/, which test/docs/types.test.js checks.
//
// The regions of this file, for the outline of an editor:
//   The instance: createSpillway() and its members
//   Options of createSpillway(), in the order of SpillwayOptions
//   Options and results of the members
//   Rejected requests, and events
//   clusterPrimary()
//   Servers and frameworks
//   snapshot(), diagnose() and fleetSnapshot()
//   metricProducer()
//   Errors
//
// `{ call(req: Request): Result }['call']` is the type of a method. Unlike a function type, it accepts a
// function whose parameter has the narrower type of a framework's request.

import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import type { Http2SecureServer, Http2Server, Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { Server as HttpsServer } from 'node:https'
import type { LoggerOptions as PinoOptions } from 'pino'

// #region The instance

/**
 * Starts to measure this process, and returns the middlewares that measure its requests. Does not keep the
 * process alive.
 *
 * @throws {SpillwayError} if an option is unknown or has an invalid value
 * @example
 * const spillway = createSpillway({ errors: { timeout: 10_000 } })
 * const app = express()
 * app.use(spillway.express()) // first
 * app.get('/users/:id', findUser)
 * app.use(spillway.errorHandler()) // last
 * spillway.attach(app.listen(3000), { signals: true })
 * await spillway.listen() // the admin server
 * @see [docs/options.md](./docs/options.md)
 */
export function createSpillway(options?: SpillwayOptions): Spillway

/**
 * Manages workers of `node:cluster`, in the primary process. Forks the workers, and a new worker for each
 * that crashes. Replaces a worker whose memory is above `memory.recycleAt`, and all workers on `restart()`.
 * Each new worker starts before the old one stops. SIGTERM and SIGINT drain all workers and end the process;
 * SIGUSR2 restarts all workers.
 *
 * @throws {SpillwayError} in a worker, on a second call before `stop()`, and if an option is unknown or has
 *   an invalid value
 * @example if (cluster.isPrimary) clusterPrimary({ workers: 4 })
 * @see [docs/fleet.md](./docs/fleet.md#clusterprimary)
 */
export function clusterPrimary(options?: ClusterPrimaryOptions): ClusterPrimary

export interface Spillway {
  /**
   * Creates the first middleware of Express 4 or 5, Connect, or Restify (`server.pre`). It measures every
   * request, admits or rejects it, and answers the endpoints. If it is the first middleware, and
   * `app.listen()` started the server, requests from the second on are rejected before Express runs. Takes no
   * arguments. TypeScript reports an error for `app.use(spillway.express)`, where the call is missing.
   *
   * @example app.use(spillway.express())
   * @see [docs/options.md](./docs/options.md#members)
   */
  express(...nothing: never[]): ExpressMiddleware

  /**
   * Creates the first middleware of Koa 2 or 3. It measures every request, admits or rejects it, and answers
   * the endpoints and the errors that no middleware caught (see `errors.answer`). Takes no arguments.
   *
   * @example koaApp.use(spillway.koa())
   * @see [docs/options.md](./docs/options.md#members)
   */
  koa(...nothing: never[]): KoaMiddleware

  /**
   * Creates the last middleware of Express 4 or 5, or Connect. It answers every error that is thrown or
   * passed to `next`, counts it, logs it, and records it on the active span of OpenTelemetry. Takes no
   * arguments. `koa()` includes this.
   *
   * @example app.use(spillway.errorHandler()) // last
   * @see [docs/errors.md](./docs/errors.md#when-a-handler-fails)
   */
  errorHandler(...nothing: never[]): ExpressErrorHandler

  /**
   * Passes the rejected promises of handlers, `router.param` callbacks and error handlers to the error
   * handlers. Express 4 itself ignores rejected promises. Applies to the whole process, existing routers
   * included. Express 5 needs no help and is not changed.
   *
   * @param express the result of `require('express')`
   * @returns `express`
   * @throws {SpillwayError} for any other value
   * @example const app = spillway.catchAsync(require('express'))()
   * @see [docs/errors.md](./docs/errors.md#express-4-and-promises)
   */
  catchAsync<Express>(express: Express): Express

  /**
   * Measures and gates every request of this http, https or http2 server before the framework runs. With
   * `express()` or `koa()` as well, a request is still counted once. A second call does nothing; `close()`
   * detaches. For a Restify, Fastify, Socket.IO or hapi server, or a Nest app, its http server is used.
   *
   * @returns `server`
   * @throws {SpillwayError} for any other value, such as an app that does not listen yet
   * @example spillway.attach(app.listen(3000), { signals: true })
   * @see [docs/options.md](./docs/options.md#members)
   */
  attach<Server extends AttachableServer | ServerHolder>(server: Server, options?: AttachOptions): Server

  /**
   * Does the same as `attach` before the server exists: `http.createServer(spillway.wrap(app))`.
   *
   * @example http.createServer(spillway.wrap(app)).listen(3000)
   * @see [docs/examples.md](./docs/examples.md#plain-http-https-and-http2)
   */
  wrap<Listener extends HttpListener>(listener: Listener): WrappedListener<Listener>
  /** For the compatibility API of http2, and for your own request and response classes. */
  wrap<Req extends Request, Res extends Response>(
    listener: (req: Req, res: Res) => unknown
  ): (req: Req, res: Res) => void

  /**
   * Watches a server of Socket.IO 4 or a `WebSocketServer` of ws: connections, messages, and the latency of
   * each event. In an overload, new connections get 503, and open connections are kept.
   *
   * @returns a handle; its `close()` stops watching the server
   * @throws {SpillwayError} for any other value
   * @example spillway.sockets(io)
   * @see [docs/sockets.md](./docs/sockets.md)
   */
  sockets(io: SocketIoServer, options?: Pick<SocketsOptions, 'priority'>): SocketsHandle
  sockets(wss: WebSocketServer, options?: SocketsOptions): SocketsHandle

  /**
   * The handler of one endpoint, to mount anywhere: `admin.get('/metrics', spillway.handler('metrics'))`. In
   * Koa, set `ctx.respond = false` and call the handler with `ctx.req` and `ctx.res`.
   *
   * @throws {SpillwayError} for an unknown name
   * @example app.get('/internal/metrics', spillway.handler('metrics'))
   * @see [docs/metrics.md](./docs/metrics.md#restrict-access)
   */
  handler(name: HandlerName): Handler

  /**
   * Starts the admin server: metrics, snapshot, health, releases, the options in force, and profiles on
   * demand. At `/`, a browser gets a live page of all this, and any other client a list of the paths. The
   * server answers during an overload and does not keep the process alive; `close()` closes it. A failure to
   * listen is also logged. Its rejection does not end the process, even if nobody handles it. In a cluster
   * only one worker listens, and the promises of the others reject. So an `await` at the top of a module
   * needs a `catch`.
   *
   * @throws {SpillwayError} for a host other than loopback without a token, and if an option is unknown or
   *   has an invalid value. The promise rejects if the server cannot listen, for example because the port is
   *   in use
   * @example const { url } = await spillway.listen()
   * @see [docs/admin.md](./docs/admin.md)
   */
  listen(options?: ListenOptions): Promise<AdminAddress>

  /**
   * With `health.manual`: marks the process as ready. Until then `/readyz` returns 503.
   *
   * @example connect().then(spillway.ready)
   * @see [docs/lifecycle.md](./docs/lifecycle.md#health-checks)
   */
  ready(): void

  /**
   * Adds the checks on which `/readyz` depends.
   *
   * @example spillway.health.check('db', () => pool.query('select 1'))
   * @see [docs/lifecycle.md](./docs/lifecycle.md#health-checks)
   */
  readonly health: HealthChecks

  /**
   * Observes a pool of connections: how many are in use, how long callers wait for one, and which routes hold
   * them. A request that would wait too long for a connection is rejected before it runs, with reason
   * `pool:<name>`. The name defaults to that of the database, if the driver knows it.
   *
   * @throws {SpillwayError} if the object is not a pool of a known kind, the name is taken or not known, or
   *   there are twenty pools already
   * @example spillway.pool('orders', new pg.Pool({ max: 10 }))
   * @see [docs/pools.md](./docs/pools.md)
   */
  pool(name: string, pool: ObservablePool, options?: PoolOptions): PoolHandle
  pool(pool: object, options?: PoolOptions): PoolHandle

  /**
   * Lets at most `maxConcurrent` requests of a route run at a time. The others wait in a queue, and get 503
   * with reason `limit:<name>` after `maxWait`. The result is a middleware for Express, Connect, Restify and
   * Koa. Several routes may share one limit, which then bounds the sum of their requests.
   *
   * @throws {SpillwayError} without `name` or `maxConcurrent`, if the name is taken, or there are fifty
   *   limits already
   * @example app.get('/report', spillway.limit({ name: 'reports', maxConcurrent: 4 }), report)
   * @see [docs/bulkheads.md](./docs/bulkheads.md)
   */
  limit(options: LimitOptions): LimitMiddleware

  /**
   * How much of the scarcest resource of this process is in use, from 0 to 1, averaged over about a second.
   * The first read starts the measurement, ten times a second. Later reads only return a number. Read the
   * property each time, because `const { pressure } = spillway` keeps the old value.
   *
   * @example if (spillway.pressure > 0.8) pauseImports()
   * @see [docs/brownout.md](./docs/brownout.md)
   */
  readonly pressure: number

  /**
   * Whether the answer to this request should cost less now: from the cache, smaller, without
   * recommendations. The share of requests for which it returns `true` grows with the pressure, first among
   * class `low` (see `pressure.degradeAt`). All calls for one request agree. Never throws. Any value that is
   * not a request gives `false`, and the first such call is logged.
   *
   * @example const items = spillway.shouldDegrade(req) ? cached : await recommend(req)
   * @see [docs/brownout.md](./docs/brownout.md)
   */
  shouldDegrade(request: RequestHolder): boolean

  /**
   * Starts the agent for HAProxy's `agent-check`: a TCP port that answers each connection with one line. The
   * line is a weight that follows from the pressure, such as `up ready 62%`, or `drain` while `/readyz`
   * returns 503. The agent does not keep the process alive.
   *
   * @throws {SpillwayError} if an option is unknown or has an invalid value. The promise rejects if the agent
   *   cannot listen
   * @example const { port } = await spillway.agent()
   * @see [docs/balancers.md](./docs/balancers.md#the-agent-of-haproxy)
   */
  agent(options?: AgentOptions): Promise<AgentAddress>

  /**
   * The whole milliseconds that a request has left until its deadline: 0 once it has passed, `Infinity` if it
   * has none. Takes the same arguments as `signal()`. An upgraded connection has no deadline. See the option
   * `deadline`.
   *
   * @throws {SpillwayError} if the argument is neither a request nor a response
   * @example const timeout = Math.min(spillway.remaining(req), 5000)
   * @see [docs/deadlines.md](./docs/deadlines.md#deadlines)
   */
  remaining(req: RequestHolder): number

  /**
   * Returns a signal that aborts once nobody waits for the answer of this request any more. This is so when
   * the client has disconnected, the deadline or `errors.timeout` has passed, or a drain has cut the request.
   * `signal.reason` is an `AbortError`, and its `code` says which. The signal does not abort once the answer
   * is complete. Takes the request or the response of Node, Express or Restify, or the context of Koa. See
   * `docs/cancellation.md`.
   *
   * @throws {SpillwayError} if the argument is not one of these
   * @example await fetch(url, { signal: spillway.signal(req) })
   * @see [docs/cancellation.md](./docs/cancellation.md)
   */
  signal(request: RequestHolder): AbortSignal

  /**
   * Names the route of a request where no router of Express, Koa or Restify does. It may be an operation of
   * GraphQL, a procedure of tRPC, or a route of Fastify or Hono. Any value but a non-empty string is ignored.
   * Pass only templates and operation names from your own code, never text from a client: see `routes.max`.
   *
   * @throws {SpillwayError} if the first argument is not a request
   * @example spillway.nameRoute(req, OPERATIONS.has(name) ? `/graphql ${name}` : '/graphql (other)')
   * @see [docs/routes.md](./docs/routes.md#name-routes-yourself)
   */
  nameRoute(req: RequestHolder, name: string | undefined): void

  /**
   * Counts, logs and traces an error that the application or its framework answers by itself, under the route
   * of its request. A second call with the same error and request does nothing. The status is that of the
   * error, or 500.
   *
   * @throws {SpillwayError} if the second argument is not a request
   * @example fastify.addHook('onError', async (request, _, error) => spillway.recordError(error, request))
   * @see [docs/errors.md](./docs/errors.md#errors-that-others-answer)
   */
  recordError(error: unknown, req: RequestHolder): void

  /**
   * All figures of this process, or thread, as one frozen plain object.
   *
   * @example const { p99Ms } = spillway.snapshot().requests.lastMinute
   * @see [docs/snapshot.md](./docs/snapshot.md)
   */
  snapshot(): Snapshot

  /**
   * What is wrong with this process, over the last minute: each problem with its figures and the next step.
   * Needs no set-up. It is computed at most once a second, and calls in between get the same result.
   *
   * @example for (const { problem, advice } of spillway.diagnose().findings) console.log(problem, advice)
   * @see [docs/insight.md](./docs/insight.md#ask-the-doctor)
   */
  diagnose(): Diagnosis

  /**
   * The requests of all workers of the fleet, with quantiles over all their answers. For a worker that does
   * not report within 0.7 seconds, the last known values count. Without a fleet, the result has the requests
   * of this process alone.
   *
   * @example const { workers } = await spillway.fleetSnapshot()
   * @see [docs/fleet.md](./docs/fleet.md)
   */
  fleetSnapshot(): Promise<FleetSnapshot>

  /**
   * All metrics, histograms included, for a reader of OpenTelemetry's SDK that takes a producer:
   * `new PeriodicExportingMetricReader({ exporter, metricProducers: [spillway.metricProducer()] })`. Returns
   * the same object each time. After the first call the observable instruments report nothing, because
   * otherwise each value would be counted twice.
   *
   * @example new PeriodicExportingMetricReader({ exporter, metricProducers: [spillway.metricProducer()] })
   * @see [docs/metrics.md](./docs/metrics.md#opentelemetry)
   */
  metricProducer(): MetricProducer

  /**
   * Changes options of `shed` at run time. If one is invalid, none is changed. An option that is not given
   * keeps its value; `undefined` restores the default. Modes `observe` and `off` reject nothing, so a change
   * to either runs all queued requests at once.
   *
   * @throws {SpillwayError} if an option is unknown, has an invalid value, or is not in `shed`
   * @example spillway.update({ shed: { mode: 'observe' } })
   * @see [docs/options.md](./docs/options.md#members)
   */
  update(options: { readonly shed: ShedOptions }): void

  /**
   * Ends the service without losing a request. `/readyz` returns 503, and after `delay` the servers stop
   * listening. Requests in flight finish, every answer closes its connection, and idle connections are
   * closed. After `timeout`, the remaining connections are destroyed. Then the instance is closed, as by
   * `close()`. A second call returns the promise of the first. The process does not exit: call
   * `process.exit()` yourself, or use `attach(server, { signals: true })`.
   *
   * @throws {SpillwayError} if an option is unknown or has an invalid value
   * @example const { cut } = await spillway.drain({ timeout: 10_000 })
   * @see [docs/lifecycle.md](./docs/lifecycle.md#drain-on-sigterm)
   */
  drain(options?: DrainOptions): Promise<DrainReport>

  /**
   * Calls `listener` when an overload begins or ends, when the process needs a replacement, or when a drain
   * begins.
   *
   * @example spillway.on('overload', ({ reason, value, bound }) => console.warn(reason, value, bound))
   * @see [docs/options.md](./docs/options.md#events)
   */
  on<Event extends keyof SpillwayEvents>(
    event: Event,
    listener: (details: SpillwayEvents[Event]) => void
  ): void

  /**
   * Removes a listener.
   *
   * @example spillway.off('overload', onOverload)
   * @see [docs/options.md](./docs/options.md#events)
   */
  off<Event extends keyof SpillwayEvents>(
    event: Event,
    listener: (details: SpillwayEvents[Event]) => void
  ): void

  /**
   * Stops measuring the process, detaches from servers and from the registry, and answers `/readyz` with 503.
   * A middleware that is still mounted passes requests on. Further calls do nothing. During a drain, the
   * instance closes after the drain.
   *
   * @example test.after(() => spillway.close())
   * @see [docs/development.md](./docs/development.md#tests)
   */
  close(): void

  /** The same as `close()`, for `using spillway = createSpillway()`. */
  [Symbol.dispose](): void
}

// #endregion

// #region Options of createSpillway()

/**
 * Every option has a default, and `undefined` selects it. An unknown option throws. 0 switches a limit off.
 *
 * @see [docs/options.md](./docs/options.md)
 */
export interface SpillwayOptions {
  /**
   * The paths that the middlewares answer for GET and HEAD. Other methods get 405. `false` switches all paths
   * off.
   *
   * @example endpoints: { metrics: '/internal/metrics', live: false }
   * @see [docs/metrics.md](./docs/metrics.md#restrict-access)
   */
  readonly endpoints?: EndpointOptions | false | undefined
  /**
   * How requests are grouped by route.
   *
   * @example routes: { max: 200 }
   * @see [docs/routes.md](./docs/routes.md)
   */
  readonly routes?: RouteOptions | undefined
  /**
   * Which answers count as streams, and whether native histograms are added.
   *
   * @example latency: { nativeHistograms: true }
   * @see [docs/metrics.md](./docs/metrics.md#native-histograms)
   */
  readonly latency?: LatencyOptions | undefined
  /**
   * Names, labels and bounds of the metrics.
   *
   * @example metrics: { prefix: 'shop_' }
   * @see [docs/metrics.md](./docs/metrics.md)
   */
  readonly metrics?: MetricsOptions | undefined

  /**
   * Requests to leave out of the metrics, the logs (access log and slow requests) and shedding. An object has
   * separate rules for each of the three. The rules are evaluated once, on arrival. A request that is left
   * out of shedding runs at once, like one of class `bypass`. A drain waits for ignored requests too, and
   * their cost to the event loop is measured.
   *
   * @default undefined
   * @example ignore: ['/healthz', /^\/assets\//]
   * @see [docs/metrics.md](./docs/metrics.md#leave-requests-out)
   */
  readonly ignore?: IgnoreRules | IgnoreOptions | undefined
  /**
   * When requests are rejected, which requests, and how.
   *
   * @example shed: { mode: 'observe' }
   * @see [docs/admission.md](./docs/admission.md)
   */
  readonly shed?: ShedOptions | undefined
  /**
   * When `shouldDegrade()` returns `true`, and at which steps there is an event.
   *
   * @example pressure: { steps: [0.7, 0.9] }
   * @see [docs/brownout.md](./docs/brownout.md)
   */
  readonly pressure?: PressureOptions | undefined
  /**
   * Headers that the proxy in front sets. No header is trusted unless an option names it.
   *
   * @example proxy: { requestStart: true }
   * @see [docs/deadlines.md](./docs/deadlines.md#the-time-in-the-proxy)
   */
  readonly proxy?: ProxyOptions | undefined
  /**
   * Deadlines of requests, and the services that receive the remaining time in a header.
   *
   * @example deadline: { header: 'x-request-timeout-ms', max: 30_000 }
   * @see [docs/deadlines.md](./docs/deadlines.md)
   */
  readonly deadline?: DeadlineOptions | undefined
  /**
   * How errors are answered and timeouts handled. `false` means `{ answer: false }`.
   *
   * @example errors: { timeout: 10_000 }
   * @see [docs/errors.md](./docs/errors.md)
   */
  readonly errors?: ErrorOptions | false | undefined
  /**
   * Which lines are logged for requests, and what they show.
   *
   * @example log: { slowAfter: 1000 }
   * @see [docs/logging.md](./docs/logging.md)
   */
  readonly log?: LogOptions | undefined
  /**
   * What the process measures to find its own problems. `false` switches all of it off.
   *
   * @example insight: { stallThreshold: 200 }
   * @see [docs/insight.md](./docs/insight.md)
   */
  readonly insight?: InsightOptions | false | undefined

  /**
   * Whether the application itself decides when `/readyz` returns 200.
   *
   * @example health: { manual: true }
   * @see [docs/lifecycle.md](./docs/lifecycle.md#health-checks)
   */
  readonly health?: HealthOptions | undefined
  /**
   * How the load of this process is reported to load balancers.
   *
   * @example balancer: { orca: ['10.0.0.0/8'] }
   * @see [docs/balancers.md](./docs/balancers.md)
   */
  readonly balancer?: BalancerOptions | undefined
  /**
   * How a drain proceeds.
   *
   * @example drain: { timeout: 25_000 }
   * @see [docs/lifecycle.md](./docs/lifecycle.md#drain-on-sigterm)
   */
  readonly drain?: DrainOptions | undefined
  /**
   * How much memory the process may use before it is replaced.
   *
   * @example memory: { recycleAt: 0.85 }
   * @see [docs/lifecycle.md](./docs/lifecycle.md#recycling-by-memory)
   */
  readonly memory?: MemoryOptions | undefined

  /**
   * The name of this release, and the file that keeps its figures for the next release.
   *
   * @example release: { file: '/var/lib/shop/release.json' }
   * @see [docs/releases.md](./docs/releases.md)
   */
  readonly release?: ReleaseOptions | undefined

  /**
   * Whether `/metrics` and `fleetSnapshot()` cover all workers. By default they cover the workers of a
   * cluster and its primary, also in PM2's cluster mode. They also cover the threads of a process whose main
   * thread has an instance. `true` adds threads whose main thread has no instance, and PM2's fork mode. A
   * `name` joins unrelated processes. `false` means this process or thread alone.
   *
   * @default undefined
   * @example fleet: { name: 'shop' }
   * @see [docs/fleet.md](./docs/fleet.md)
   */
  readonly fleet?: boolean | FleetOptions | undefined

  /**
   * A registry of prom-client or @prometheus-io/client that receives the metrics, for an application that
   * calls `metrics()` of the registry itself. `/metrics` then shows the whole registry. By default `/metrics`
   * shows Spillway's metrics, and the global `register` of each of these libraries that is loaded. Two
   * instances cannot share a registry.
   *
   * @default undefined
   * @example registry: register
   * @see [docs/metrics.md](./docs/metrics.md#metrics-of-your-own)
   */
  readonly registry?: MetricsRegistry | undefined

  /**
   * The logger: a pino instance, another logger, or options for a new pino instance. Spillway logs to a child
   * of your logger. `false` logs nothing. By default the first line creates a pino instance. That instance
   * prints readable lines on a terminal if `pino-pretty` is installed, and nothing under a test runner.
   *
   * @default undefined
   * @example logger: { level: 'warn' }
   * @see [docs/logging.md](./docs/logging.md#where-lines-go)
   */
  readonly logger?: Logger | PinoOptions | false | undefined
}

/** Decides whether the client that sent this request may read this endpoint. */
export type AllowFunction = { call(req: Request, endpoint: HandlerName): boolean }['call']

export interface EndpointOptions {
  /**
   * Path of the Prometheus metrics, or `false` for none. The `Accept` header selects text, OpenMetrics or
   * protobuf. A query string is ignored. Each format is rendered at most once a second, and scrapes in
   * between get the same bytes.
   *
   * @default '/metrics'
   * @example endpoints: { metrics: '/internal/metrics' }
   * @see [docs/metrics.md](./docs/metrics.md#formats)
   */
  readonly metrics?: string | false | undefined

  /**
   * Path of the liveness probe, or `false` for none. Returns 200 while the event loop turns, at any load.
   *
   * @default '/livez'
   * @example endpoints: { live: '/healthz' }
   * @see [docs/first-answers.md](./docs/first-answers.md#probes)
   */
  readonly live?: string | false | undefined

  /**
   * Path of the readiness probe, or `false` for none. Returns 503 while a `health.check` fails, before
   * `ready()` with `health.manual`, during a drain and after `close()`, and 200 otherwise.
   *
   * @default '/readyz'
   * @example endpoints: { ready: false }
   * @see [docs/lifecycle.md](./docs/lifecycle.md#health-checks)
   */
  readonly ready?: string | false | undefined

  /**
   * Decides which clients may read these paths, for example only your Prometheus and your balancer. Called
   * with each request for one of the paths. If the function does not return `true`, the request goes to the
   * application, and is measured and gated like any other. With `express()` alone the function gets Express's
   * request, otherwise Node's. Handlers from `handler()` and the admin server do not call it.
   *
   * @default undefined
   * @example endpoints: { allow: (req) => req.headers['x-forwarded-for'] === undefined }
   * @see [docs/metrics.md](./docs/metrics.md#restrict-access)
   */
  readonly allow?: AllowFunction | undefined
}

export interface RouteOptions {
  /**
   * The number of routes with series of their own, at least 1. Further routes share the label
   * `routes.overflow`, still separated by method and status.
   *
   * @default 1000
   * @example routes: { max: 200 }
   * @see [docs/routes.md](./docs/routes.md)
   */
  readonly max?: number | undefined

  /**
   * The route label of requests that no route handled.
   *
   * @default '(unmatched)'
   * @example routes: { unmatched: 'none' }
   * @see [docs/routes.md](./docs/routes.md)
   */
  readonly unmatched?: string | undefined

  /**
   * The route label of requests whose route exceeds `routes.max`.
   *
   * @default '(other)'
   * @example routes: { overflow: 'more' }
   * @see [docs/routes.md](./docs/routes.md)
   */
  readonly overflow?: string | undefined

  /**
   * Returns another route label for a request, called once when the answer has ended. `template` is the
   * template of the route, or `undefined` if no route handled the request. Any result but a non-empty string
   * keeps the template. Labels are bounded by `routes.max`.
   *
   * @default undefined
   * @example routes: { label: (req, res, template) => template ?? '/static' }
   * @see [docs/routes.md](./docs/routes.md#name-routes-yourself)
   */
  readonly label?: RouteLabel | undefined
}

export interface LatencyOptions {
  /**
   * Milliseconds from the head of an answer until its unfinished body counts as a stream; above 0. Streams
   * have their own series. Server-sent events always count as streams.
   *
   * @default 10000
   * @example latency: { streamAfter: 30_000 }
   * @see [docs/all-metrics.md](./docs/all-metrics.md)
   */
  readonly streamAfter?: number | undefined

  /**
   * Adds `spillway_request_duration_seconds` by method and route, a native histogram of schema 3. Its
   * quantiles are off by less than 9.1 %, without bounds to choose. Prometheus reads native histograms only
   * over protobuf, which it requests if native histograms are enabled there.
   *
   * @default false
   * @example latency: { nativeHistograms: true }
   * @see [docs/metrics.md](./docs/metrics.md#native-histograms)
   */
  readonly nativeHistograms?: boolean | undefined
}

export interface MetricsOptions {
  /**
   * Adds `http_server_request_body_size_bytes` and `http_server_response_body_size_bytes`: the transferred
   * sizes of bodies, by method, route and status. Without this option nothing is computed.
   *
   * @default false
   * @example metrics: { bodySizes: true }
   * @see [docs/all-metrics.md](./docs/all-metrics.md#sizes-of-bodies)
   */
  readonly bodySizes?: boolean | undefined

  /**
   * Bounds of `http_server_request_duration_seconds` in seconds, as in prom-client: 1 to 100 values above 0,
   * in rising order. The default is the bounds that OpenTelemetry advises, plus 1 and 2.5 ms.
   *
   * @default [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
   * @example metrics: { buckets: [0.01, 0.1, 0.25, 1, 5] }
   * @see [docs/all-metrics.md](./docs/all-metrics.md)
   */
  readonly buckets?: readonly number[] | undefined

  /**
   * Whether `/metrics` also has prom-client's default metrics. Loop delay, garbage collection and heap then
   * have prom-client's names and lose OpenTelemetry's, so nothing is exposed twice. The same happens if your
   * registry already has these metrics.
   *
   * @default false
   * @example metrics: { defaults: true }
   * @see [docs/metrics.md](./docs/metrics.md#metrics-of-your-own)
   */
  readonly defaults?: boolean | undefined

  /**
   * Your own labels on the request series, such as the tenant. Each function is called once, when the answer
   * has ended. In Koa the function gets Node's request: put the value on `ctx.req`.
   *
   * @default undefined
   * @example metrics: { labels: { host: (req) => req.headers.host } }
   * @see [docs/metrics.md](./docs/metrics.md#labels-of-your-own)
   */
  readonly labels?: Readonly<Record<string, RequestLabel>> | undefined

  /**
   * The number of values of each of `labels`, 1 to 10000. Further values share the value `routes.overflow`,
   * and are counted. `routes.max` bounds the combinations of method, route and values.
   *
   * @default 100
   * @example metrics: { maxLabelValues: 20 }
   * @see [docs/metrics.md](./docs/metrics.md#labels-of-your-own)
   */
  readonly maxLabelValues?: number | undefined

  /**
   * The prefix of this package's own metrics in Prometheus: letters, digits and underscores, with an
   * underscore at the end. Metrics that OpenTelemetry or Prometheus named keep their names.
   *
   * @default 'spillway_'
   * @example metrics: { prefix: 'shop_' }
   * @see [docs/all-metrics.md](./docs/all-metrics.md)
   */
  readonly prefix?: string | undefined
}

/**
 * Returns the value of a label for a request whose answer has ended. `undefined` gives an empty label. If the
 * function throws or returns another type, the value is empty, and the first failure is logged. A value is
 * cut at 256 characters.
 */
export type RequestLabel = {
  call(req: Request, res: Response): string | number | bigint | boolean | undefined
}['call']

/**
 * A string matches exactly one path, as the client sent the path and without the query. A RegExp is tested on
 * the path. A function gets the request on arrival. Rely on `req.url` and `req.headers`: `req.path` is
 * missing before Express has run, and for upgrades. If the function throws or returns a promise, the request
 * is not ignored, and the error is logged once.
 */
export type IgnoreRule = string | RegExp | { call(req: Request): unknown }['call']
export type IgnoreRules = IgnoreRule | readonly IgnoreRule[]

export interface IgnoreOptions {
  /**
   * Requests to leave out of all metrics, and of `snapshot()` except its list `oldest`. Rejections are still
   * counted.
   *
   * @default undefined
   * @example ignore: { metrics: '/healthz' }
   * @see [docs/metrics.md](./docs/metrics.md#leave-requests-out)
   */
  readonly metrics?: IgnoreRules | undefined
  /**
   * Requests to leave out of the access log, of the lines about slow requests, and of `snapshot().slowest`.
   * The doctor does not call their routes slow: name long polls here. Errors are still logged.
   *
   * @default undefined
   * @example ignore: { log: [/^\/assets\//] }
   * @see [docs/metrics.md](./docs/metrics.md#leave-requests-out)
   */
  readonly log?: IgnoreRules | undefined
  /**
   * Requests that are neither queued nor rejected.
   *
   * @default undefined
   * @example ignore: { shed: (req) => req.method === 'OPTIONS' }
   * @see [docs/metrics.md](./docs/metrics.md#leave-requests-out)
   */
  readonly shed?: IgnoreRules | undefined
}

/**
 * When requests are rejected, which requests, and how.
 *
 * @see [docs/admission.md](./docs/admission.md)
 */
export interface ShedOptions {
  /**
   * How requests are admitted. `adaptive` finds by itself what the process can serve in time. `threshold`
   * uses every limit except the measured one of the loop, and its gate queues nothing. The limits are the
   * fixed ones (`maxConcurrent` and the four `max…` options below it), `shortage`, the heap limit, ages and
   * pools. `observe` decides and counts, but rejects nothing. With `off` the gate does nothing. `limit()`
   * still rejects in `threshold` and `off`. Under a test runner the default is `observe`. `NODE_ENV=test`
   * counts as a test runner, except in Kubernetes and PM2.
   *
   * @default 'adaptive'
   * @example shed: { mode: 'observe' }
   * @see [docs/admission.md](./docs/admission.md#observe-before-you-shed)
   */
  readonly mode?: 'adaptive' | 'threshold' | 'observe' | 'off' | undefined

  /**
   * Milliseconds that a request may stay queued in a burst; after that it gets a 503. With the default, a
   * burst of up to a second of work is served in full. Time for which one handler blocks the loop is not
   * counted.
   *
   * @default 1000
   * @example shed: { maxDelay: 300 }
   * @see [docs/admission.md](./docs/admission.md#overload-or-burst)
   */
  readonly maxDelay?: number | undefined

  /**
   * Milliseconds that a request may stay queued in an overload; after that it gets a 503. An overload adds
   * about this latency to the requests that are served. If long loop turns take over 27 ms, the bound is 1.5
   * times the usual long turn.
   *
   * @default 40
   * @example shed: { targetDelay: 100 }
   * @see [docs/admission.md](./docs/admission.md#overload-or-burst)
   */
  readonly targetDelay?: number | undefined

  /**
   * Whether requests come through gateways, such as nginx or another service, that queue requests themselves.
   * With `true`, requests are rejected in an overload however few connections carry them. With `false`,
   * clients on a few keep-alive connections wait for their turn and are not rejected. By default the headers
   * of queued requests decide: `X-Forwarded-For`, `Forwarded`, `Via`, `traceparent` and `X-Request-Id` are
   * signs of a gateway.
   *
   * @default undefined
   * @example shed: { proxy: true }
   * @see [docs/admission.md](./docs/admission.md#clients-and-gateways)
   */
  readonly proxy?: boolean | undefined

  /**
   * The number of requests that may run at the same time, at least 1. By default only the limit that Spillway
   * measures applies.
   *
   * @default undefined
   * @example shed: { maxConcurrent: 100 }
   * @see [docs/admission.md](./docs/admission.md#fixed-limits)
   */
  readonly maxConcurrent?: number | undefined

  /**
   * Milliseconds of event-loop delay above which every request is rejected, except class `bypass`. 0 is off.
   * One slow handler does not trigger it.
   *
   * @default undefined
   * @example shed: { maxEventLoopDelay: 200 }
   * @see [docs/admission.md](./docs/admission.md#fixed-limits)
   */
  readonly maxEventLoopDelay?: number | undefined

  /**
   * Share of a `sampleInterval` for which the loop is busy, from 0 to 1. Above it every request is rejected,
   * except class `bypass`. 0 is off.
   *
   * @default undefined
   * @example shed: { maxEventLoopUtilization: 0.98 }
   * @see [docs/admission.md](./docs/admission.md#fixed-limits)
   */
  readonly maxEventLoopUtilization?: number | undefined

  /**
   * Bytes of heap in use above which every request is rejected, except class `bypass`. 0 is off.
   *
   * @default undefined
   * @example shed: { maxHeapUsedBytes: 1_500_000_000 }
   * @see [docs/admission.md](./docs/admission.md#fixed-limits)
   */
  readonly maxHeapUsedBytes?: number | undefined

  /**
   * Bytes of resident memory above which every request is rejected, except class `bypass`. 0 is off.
   *
   * @default undefined
   * @example shed: { maxRssBytes: 2_000_000_000 }
   * @see [docs/admission.md](./docs/admission.md#fixed-limits)
   */
  readonly maxRssBytes?: number | undefined

  /**
   * Milliseconds between two checks of the four limits above. A limit stops rejecting at the first check that
   * finds its value no longer above it.
   *
   * @default 1000
   * @example shed: { maxEventLoopDelay: 200, sampleInterval: 500 }
   * @see [docs/admission.md](./docs/admission.md#fixed-limits)
   */
  readonly sampleInterval?: number | undefined

  /**
   * Minimum number of seconds in `Retry-After`. Up to 9 random seconds are added as the overload grows.
   *
   * @default 1
   * @example shed: { retryAfter: 5 }
   * @see [docs/rejected-requests.md](./docs/rejected-requests.md#who-rejects-and-what-the-client-gets)
   */
  readonly retryAfter?: number | undefined

  /**
   * A function that returns the class of a request, or an object that names the headers that decide. If the
   * function throws or returns anything else, the class is `normal`, and the first failure is logged.
   *
   * @default undefined
   * @example shed: { classify: (req) => (req.url === '/checkout' ? 'critical' : 'normal') }
   * @see [docs/recipes.md](./docs/recipes.md#by-path)
   */
  readonly classify?: ShedFunction<Priority> | ClassifyOptions | undefined

  /**
   * Returns the key whose share a request counts against under overload: a tenant, an API key, an address.
   * Each key gets an equal share before any key gets more. Requests without a key share the empty key.
   *
   * @default undefined
   * @example shed: { key: (req) => req.socket.remoteAddress }
   * @see [docs/recipes.md](./docs/recipes.md#equal-shares-for-tenants)
   */
  readonly key?: ShedFunction<string | undefined> | undefined

  /**
   * Returns how short a resource is that only you can measure, from 0 to 1, such as a database pool. Called
   * ten times a second. The returned share of the requests is rejected: class `low` most, `critical` never.
   *
   * @default undefined
   * @example shed: { shortage: () => pool.waitingCount / 50 }
   * @see [docs/recipes.md](./docs/recipes.md#a-database-pool)
   */
  readonly shortage?: (() => number) | undefined

  /**
   * The greatest age of a request in milliseconds, above 0, counted from the stamp of the proxy. An older
   * request is rejected on arrival with reason `age`. A request that would grow older in the queue is
   * rejected with reason `deadline`. Needs `proxy.requestStart`.
   *
   * @default undefined
   * @example proxy: { requestStart: true }, shed: { maxAge: 5000 }
   * @see [docs/deadlines.md](./docs/deadlines.md#what-is-rejected)
   */
  readonly maxAge?: number | undefined

  /**
   * Returns headers to add to the 503, such as CORS headers. Without these a browser hides the status. A
   * header that is `undefined` is left out.
   *
   * @default undefined
   * @example shed: { headers: () => ({ 'Access-Control-Allow-Origin': '*' }) }
   * @see [docs/rejected-requests.md](./docs/rejected-requests.md#headers-for-browsers)
   */
  readonly headers?: ShedHeaders | undefined

  /**
   * Answers a rejected request. Status 503, `Retry-After`, `Cache-Control` and the result of `headers` are
   * set already. If it throws, or returns `false` or a promise of `false`, the standard answer is sent.
   *
   * @default undefined
   * @example shed: { respond: (req, res) => res.end('busy') }
   * @see [docs/rejected-requests.md](./docs/rejected-requests.md#answer-a-rejected-request)
   */
  readonly respond?: { call(req: Request, res: Response, verdict: ShedVerdict): unknown }['call'] | undefined

  /**
   * How a rejected request is answered. `respond` answers it at once. `next` passes an `OverloadError` to
   * your error handler, which costs more. A request that neither `express()` nor `koa()` gets is answered at
   * once.
   *
   * @default 'respond'
   * @example shed: { errorMode: 'next' }
   * @see [docs/rejected-requests.md](./docs/rejected-requests.md#who-rejects-and-what-the-client-gets)
   */
  readonly errorMode?: 'respond' | 'next' | undefined
}

/**
 * Headers that decide the class of a request. The first of these headers with a usable value decides. If none
 * has a usable value, the class is `normal`.
 */
export interface ClassifyOptions {
  /**
   * The name of a header that a proxy of yours sets or removes on every request. Its value is a class other
   * than `bypass`, or an urgency as in `Priority` of RFC 9218. Of urgencies, `u=0` is `critical`, `u=1` and
   * `u=2` are `high`, `u=3` is `normal`, `u=4` to `u=7` are `low`. The last value of a list counts.
   *
   * @default undefined
   * @example shed: { classify: { header: 'x-priority' } }
   * @see [docs/recipes.md](./docs/recipes.md#by-header)
   */
  readonly header?: string | undefined

  /**
   * Whether `Sec-Purpose: prefetch` makes a request `low`.
   *
   * @default false
   * @example shed: { classify: { prefetch: true } }
   * @see [docs/recipes.md](./docs/recipes.md#by-header)
   */
  readonly prefetch?: boolean | undefined

  /**
   * Whether the client's own `Priority` makes a request `low`: `u=4` to `u=7`. A lower number does not raise
   * the class.
   *
   * @default false
   * @example shed: { classify: { urgency: true } }
   * @see [docs/recipes.md](./docs/recipes.md#by-header)
   */
  readonly urgency?: boolean | undefined
}

/**
 * Gets a request. With `express()` it is Express's request, with the properties that earlier middlewares have
 * added. With `koa()` it is `ctx.req`. With `attach()` or `wrap()` alone it is Node's request.
 */
export type ShedFunction<Result> = { call(req: Request): Result }['call']

/** Returns headers for the answer to a rejected request. */
export type ShedHeaders = {
  call(
    req: Request,
    verdict: ShedVerdict
  ): Readonly<Record<string, string | number | readonly string[] | undefined>> | undefined
}['call']

/** Bounds of `spillway.pressure`, from 0 to 1. */
export interface PressureOptions {
  /**
   * The steps at which the event `pressure` is emitted, such as `[0.7, 0.9]`. A falling pressure passes a
   * step only 0.05 below it.
   *
   * @default undefined
   * @example pressure: { steps: [0.7, 0.9] }
   * @see [docs/brownout.md](./docs/brownout.md#an-event-at-a-step)
   */
  readonly steps?: readonly number[] | undefined
  /**
   * The pressure at which each class begins to be degraded: no request at this pressure, all requests from
   * 0.2 above it on. `false`: never. A class that is not given has its default:
   * `{ critical: false, high: 0.85, normal: 0.75, low: 0.55 }`.
   *
   * @default undefined
   * @example pressure: { degradeAt: { high: false, low: 0.4 } }
   * @see [docs/brownout.md](./docs/brownout.md#which-requests-are-degraded)
   */
  readonly degradeAt?:
    | { readonly [Class in 'critical' | 'high' | 'normal' | 'low']?: number | false | undefined }
    | undefined
}

export interface ProxyOptions {
  /**
   * Whether the proxy says when a request came to it. `true` reads `X-Request-Start`, or `X-Queue-Start`; a
   * string is the name of another header. The proxy must overwrite the header, because a client could send it
   * as well. Seconds, milliseconds, microseconds and nanoseconds since 1970 are understood, also after `t=`.
   *
   * @default undefined
   * @example proxy: { requestStart: 'x-request-start' }
   * @see [docs/deadlines.md](./docs/deadlines.md#the-time-in-the-proxy)
   */
  readonly requestStart?: boolean | string | undefined
}

export interface DeadlineOptions {
  /**
   * The header for the time that the caller waits: `x-request-timeout-ms`, `x-envoy-expected-rq-timeout-ms`,
   * `grpc-timeout` (in its own format), or another with milliseconds. By default no header is read.
   *
   * @default undefined
   * @example deadline: { header: 'grpc-timeout' }
   * @see [docs/deadlines.md](./docs/deadlines.md#deadlines)
   */
  readonly header?: string | undefined
  /**
   * The time for a request without the header that `header` names: milliseconds, above 0 and at most `max`.
   *
   * @default undefined
   * @example deadline: { default: 10_000 }
   * @see [docs/deadlines.md](./docs/deadlines.md#deadlines)
   */
  readonly default?: number | undefined
  /**
   * The longest time for any request: milliseconds, above 0. It applies whatever the header says, and also
   * without a header.
   *
   * @default undefined
   * @example deadline: { max: 30_000 }
   * @see [docs/deadlines.md](./docs/deadlines.md#deadlines)
   */
  readonly max?: number | undefined
  /**
   * Returns the milliseconds that are left for a request, in place of the header. 0 or less: the deadline has
   * passed. `undefined` or `NaN`: the header decides.
   *
   * @default undefined
   * @example deadline: { of: (req) => (req.url === '/report' ? 60_000 : undefined) }
   * @see [docs/deadlines.md](./docs/deadlines.md#deadlines)
   */
  readonly of?: ShedFunction<number | undefined> | undefined
  /**
   * Hosts whose services get the same header, with the time that is left:
   * `['orders.internal', 'localhost:4000']`. A host without a port is that host with any port. No other host
   * gets the header, not even after a redirect. Needs another option of `deadline`. The value of the header
   * is at most 2147483647.
   *
   * @default undefined
   * @example deadline: { header: 'grpc-timeout', forward: ['orders.internal'] }
   * @see [docs/deadlines.md](./docs/deadlines.md#pass-the-deadline-on)
   */
  readonly forward?: readonly string[] | undefined
}

export interface ErrorOptions {
  /**
   * Whether `koa()` and `errorHandler()` answer errors. If `false`, they count, log and trace errors, and
   * pass them on: to Koa, or to the next error handler of Express.
   *
   * @default true
   * @example errors: { answer: false }
   * @see [docs/errors.md](./docs/errors.md#when-a-handler-fails)
   */
  readonly answer?: boolean | undefined

  /**
   * Milliseconds, above 0, from the arrival of a request until the head of its answer. After that, this
   * package answers the request, and the handler's own answer has no effect. A function is called ten times a
   * second for each unanswered request, and may return `undefined` for no timeout. Any other value that is
   * not above 0 is reported, and the request has no timeout. An answer that has begun is not interrupted.
   *
   * @default undefined
   * @example errors: { timeout: (req, { route }) => (route === '/report' ? 60_000 : 10_000) }
   * @see [docs/errors.md](./docs/errors.md#requests-that-nobody-answers)
   */
  readonly timeout?: number | TimeoutFunction | undefined

  /**
   * The status of the answer to a request that timed out.
   *
   * @default 503
   * @example errors: { timeout: 10_000, timeoutStatus: 504 }
   * @see [docs/errors.md](./docs/errors.md#requests-that-nobody-answers)
   */
  readonly timeoutStatus?: 503 | 504 | undefined

  /**
   * What happens on uncaught exceptions and unhandled rejections, besides what Node does. `log` counts and
   * logs them, on Node 24 with the route. `logRequest` also names the request, which costs 1 to 2 µs a
   * request on Node 20 and 22. `drain` also answers that request with 500, drains, and exits with code 1.
   *
   * @default 'log'
   * @example errors: { uncaught: 'drain' }
   * @see [docs/errors.md](./docs/errors.md#uncaught-errors)
   */
  readonly uncaught?: 'log' | 'logRequest' | 'drain' | undefined
}

/** `route` is the template of the route that handles the request now, or `null` if no route does yet. */
export type TimeoutFunction = {
  call(
    req: Request,
    about: { readonly route: string | null; readonly priority: Priority }
  ): number | undefined
}['call']

export interface LogOptions {
  /**
   * Milliseconds above which a request gets a line, except streams. After ten of these lines, at most one a
   * second is logged, with the number of requests it stands for.
   *
   * @default undefined
   * @example log: { slowAfter: 1000 }
   * @see [docs/logging.md](./docs/logging.md#all-lines)
   */
  readonly slowAfter?: number | undefined

  /**
   * The number of slowest requests of each minute that get a line, at most 100. `snapshot().slowest` always
   * has ten.
   *
   * @default 0
   * @example log: { slowest: 5 }
   * @see [docs/logging.md](./docs/logging.md#all-lines)
   */
  readonly slowest?: number | undefined

  /**
   * Whether each request gets a line, in the shape of pino-http. The line of a successful request has the
   * headers `host`, `user-agent`, `content-type`, `content-length` and those in `headers`. Any other line has
   * all headers. Rejected requests get a few lines with the number of requests they stand for. The endpoints
   * get no lines. An object also switches the log on.
   *
   * @default false
   * @example log: { access: { ignore: '/healthz' } }
   * @see [docs/logging.md](./docs/logging.md#the-access-log)
   */
  readonly access?: boolean | AccessLogOptions | undefined

  /**
   * Names of headers whose values lines may show, besides the harmless ones. `authorization`, `cookie`,
   * `proxy-authorization` and `set-cookie` are not allowed.
   *
   * @default undefined
   * @example log: { headers: ['x-tenant'] }
   * @see [docs/logging.md](./docs/logging.md#what-the-log-never-shows)
   */
  readonly headers?: readonly string[] | undefined

  /**
   * Whether lines show the query of a URL. Values of keys such as `token` or `password`, and values that look
   * like tokens, are replaced by `[Redacted]`.
   *
   * @default false
   * @example log: { query: true }
   * @see [docs/logging.md](./docs/logging.md#what-the-log-never-shows)
   */
  readonly query?: boolean | undefined
}

/** The level of a line: any of pino's, and `silent` for no line. */
export type AccessLogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

/**
 * An error, or a result of another type, is counted, and the first is logged. The line is then written
 * without the function.
 */
export interface AccessLogOptions {
  /**
   * Returns further fields of a line, like `customProps` of pino-http. These do not replace fields of the
   * line itself.
   *
   * @default undefined
   * @example log: { access: { fields: (req) => ({ tenant: req.headers['x-tenant'] }) } }
   * @see [docs/logging.md](./docs/logging.md#the-access-log)
   */
  readonly fields?: { call(req: Request, res: Response): object | undefined }['call'] | undefined

  /**
   * Returns the level of a line, like `customLogLevel` of pino-http; `undefined` for the default level.
   *
   * @default undefined
   * @example log: { access: { level: (req, res) => (res.statusCode === 404 ? 'debug' : undefined) } }
   * @see [docs/logging.md](./docs/logging.md#the-access-log)
   */
  readonly level?: { call(req: Request, res: Response): AccessLogLevel | undefined }['call'] | undefined

  /**
   * Requests without a line, like `autoLogging.ignore` of pino-http: a path, a RegExp on the path, a
   * function, or an array of these. The option `ignore` also leaves requests out of the metrics.
   *
   * @default undefined
   * @example log: { access: { ignore: ['/healthz', /^\/assets\//] } }
   * @see [docs/logging.md](./docs/logging.md#the-access-log)
   */
  readonly ignore?: AccessIgnoreRule | readonly AccessIgnoreRule[] | undefined
}

/**
 * As `IgnoreRule`. A function gets the response too:
 * `(req, res) => res.writableFinished && res.statusCode < 400`.
 */
export type AccessIgnoreRule = string | RegExp | { call(req: Request, res: Response): unknown }['call']

export interface InsightOptions {
  /**
   * Whether outgoing calls are measured, by host and by the route that asked.
   *
   * @default true
   * @example insight: { outgoing: false }
   * @see [docs/where-time-goes.md](./docs/where-time-goes.md#outgoing-calls)
   */
  readonly outgoing?: boolean | undefined

  /**
   * Whether warnings of the process are counted.
   *
   * @default true
   * @example insight: { warnings: false }
   * @see [docs/where-time-goes.md](./docs/where-time-goes.md#warnings-of-the-process)
   */
  readonly warnings?: boolean | undefined
  /**
   * Whether stalls of the event loop are recorded, with the function and the route that blocked it. A thread
   * that watches the loop starts with the first stall; `'always'` starts it with the instance.
   *
   * @default true
   * @example insight: { stalls: 'always' }
   * @see [docs/stalls.md](./docs/stalls.md#stalls)
   */
  readonly stalls?: boolean | 'always' | undefined

  /**
   * Milliseconds that a loop turn must be busy to be a stall, at least 50.
   *
   * @default 100
   * @example insight: { stallThreshold: 200 }
   * @see [docs/stalls.md](./docs/stalls.md#stalls)
   */
  readonly stallThreshold?: number | undefined

  /**
   * How many milliseconds the loop is blocked before a line says so: at least 500, or 0 for never.
   *
   * @default 1000
   * @example insight: { blockedAfter: 5000 }
   * @see [docs/stalls.md](./docs/stalls.md#while-the-loop-is-blocked)
   */
  readonly blockedAfter?: number | undefined

  /**
   * How many milliseconds the loop is blocked before this is a hang: at least 1000, or 0 for never. Then
   * `/livez` on `listen({ blockedPort })` answers 503, and the report of `hangReport` is written.
   *
   * @default 30000
   * @example insight: { hangAfter: 10_000 }
   * @see [docs/stalls.md](./docs/stalls.md#while-the-loop-is-blocked)
   */
  readonly hangAfter?: number | undefined

  /**
   * Directory of a report about a hang: function, stack, route, memory and `snapshot()`, as JSON in
   * `spillway-hang-PID.json`. The next hang of the process replaces it.
   *
   * @default undefined
   * @example insight: { hangReport: '/var/log/shop' }
   * @see [docs/stalls.md](./docs/stalls.md#write-a-report-about-a-hang-or-end-the-process)
   */
  readonly hangReport?: string | undefined

  /**
   * How many milliseconds the loop is blocked before the process is ended: at least 1000, or 0 for never.
   * Blocked JavaScript is made to call `process.exit(70)`. A process that is blocked in native code is
   * killed. In a worker thread only that thread ends, once its native code has returned.
   *
   * @default 0
   * @example insight: { exitAfter: 60_000 }
   * @see [docs/stalls.md](./docs/stalls.md#write-a-report-about-a-hang-or-end-the-process)
   */
  readonly exitAfter?: number | undefined

  /**
   * Whether the time of each request is split into parts, and the loop time of handlers is summed by route.
   *
   * @default true
   * @example insight: { parts: false }
   * @see [docs/where-time-goes.md](./docs/where-time-goes.md#parts-of-the-time)
   */
  readonly parts?: boolean | undefined

  /**
   * Whether the process reads its figures every ten seconds while requests come. `diagnose()` and the log
   * lines about findings need these readings.
   *
   * @default true
   * @example insight: { doctor: false }
   * @see [docs/insight.md](./docs/insight.md#ask-the-doctor)
   */
  readonly doctor?: boolean | undefined
}

export interface HealthOptions {
  /**
   * Whether `/readyz` returns 503 until `ready()` is called.
   *
   * @default false
   * @example health: { manual: true }
   * @see [docs/lifecycle.md](./docs/lifecycle.md#health-checks)
   */
  readonly manual?: boolean | undefined
  /**
   * The pressure, from 0 to 1, at which `/readyz` says 503. It does so after 5 s at this pressure, until the
   * pressure is 0.2 lower, and for a minute at most. In a fleet only one process at a time does so, and only
   * while the fleet has another process. Ignored in workers of a cluster, which share a port. 0 is off.
   *
   * @default 0
   * @example health: { maxPressure: 0.9 }
   * @see [docs/balancers.md](./docs/balancers.md#a-readyz-that-depends-on-the-pressure)
   */
  readonly maxPressure?: number | undefined
}

/** The load in answers, as load balancers read it. */
export interface BalancerOptions {
  /**
   * The proxies that get ORCA's header `endpoint-load-metrics` if they ask for it by
   * `endpoint-load-metrics-format: TEXT` or `JSON`. They are given as addresses and subnets, such as
   * `['127.0.0.1', '10.0.0.0/8']`, or as a function that returns `true` for their requests.
   *
   * @default undefined
   * @example balancer: { orca: ['127.0.0.1', '10.0.0.0/8'] }
   * @see [docs/balancers.md](./docs/balancers.md#a-header-for-orca)
   */
  readonly orca?: readonly string[] | { call(req: Request): unknown }['call'] | undefined
}

export interface DrainOptions {
  /**
   * How a drain proceeds. `'production'`: no client notices; balancers have `delay` to react, and idle
   * connections stay open as long as their clients expect. `'development'`: only requests in flight finish;
   * idle connections, event streams and WebSockets are closed at once.
   *
   * By default `'production'` with NODE_ENV `production`, in Kubernetes and under PM2. Elsewhere
   * `'development'` under a watcher (`node --watch`, `tsx watch`, nodemon and others) and with NODE_ENV
   * `development` or `test`. It is `'development'` on SIGINT too, unless init, systemd or supervisord started
   * the process without a terminal. In all other cases it is `'production'`.
   *
   * @default undefined
   * @example drain: { mode: 'production' }
   * @see [docs/development.md](./docs/development.md#how-spillway-recognises-development)
   */
  readonly mode?: 'production' | 'development' | undefined

  /**
   * For how many milliseconds requests in flight may still run, once the servers have stopped listening. Then
   * they are cut. In production, idle connections are closed after a quarter of this time, or after the
   * server's `keepAliveTimeout` if that is shorter. By default 20000, and 4000 in development.
   *
   * @default undefined
   * @example drain: { timeout: 25_000 }
   * @see [docs/lifecycle.md](./docs/lifecycle.md#how-a-drain-goes)
   */
  readonly timeout?: number | undefined

  /**
   * Milliseconds to serve as before while `/readyz` returns 503 already, so that balancers notice. By default
   * 5000 in Kubernetes, which sends SIGTERM when it only begins to remove the pod from its endpoints, and 0
   * elsewhere. In development the delay is 0.
   *
   * @default undefined
   * @example drain: { delay: 10_000 }
   * @see [docs/lifecycle.md](./docs/lifecycle.md#how-a-drain-goes)
   */
  readonly delay?: number | undefined
}

export interface MemoryOptions {
  /**
   * The level of memory above which the process drains and exits with 0, so that its supervisor starts a new
   * process. The heap after a major collection and resident memory are compared with the level. Bytes, or a
   * share up to 1 of the limit. The limit of the heap is V8's or `--max-old-space-size`. The limit of
   * resident memory is the container's or the machine's. 0 is off. Each process lowers its own level by a
   * random share of up to 10 %.
   *
   * @default undefined
   * @example memory: { recycleAt: 0.85 }
   * @see [docs/lifecycle.md](./docs/lifecycle.md#recycling-by-memory)
   */
  readonly recycleAt?: number | undefined

  /**
   * Milliseconds for which memory must stay above the level. Each process uses a random time between this
   * value and twice this value.
   *
   * @default 30000
   * @example memory: { recycleAt: 0.85, recycleAfter: 60_000 }
   * @see [docs/lifecycle.md](./docs/lifecycle.md#recycling-by-memory)
   */
  readonly recycleAfter?: number | undefined

  /**
   * Milliseconds after its start within which a process is not replaced. A process that is above `recycleAt`
   * at the end of this time needs that much memory, so its level is raised.
   *
   * @default 60000
   * @example memory: { recycleAt: 0.85, minUptime: 300_000 }
   * @see [docs/lifecycle.md](./docs/lifecycle.md#recycling-by-memory)
   */
  readonly minUptime?: number | undefined
}

export interface ReleaseOptions {
  /**
   * The version of your application. By default `npm_package_version`, which npm sets, or the version that
   * the platform sets.
   *
   * @default undefined
   * @example release: { version: '1.4.0' }
   * @see [docs/releases.md](./docs/releases.md)
   */
  readonly version?: string | undefined

  /**
   * The commit of your application. By default from the variables of common platforms and CI systems, such as
   * `GITHUB_SHA`.
   *
   * @default undefined
   * @example release: { revision: process.env.COMMIT }
   * @see [docs/releases.md](./docs/releases.md)
   */
  readonly revision?: string | undefined

  /**
   * Path of a small file that survives a deploy. Each release writes its figures to it, for
   * `snapshot().releases` of the next one. Processes on one machine may share the file: the process that
   * answered the most requests represents its release.
   *
   * @default undefined
   * @example release: { file: '/var/lib/shop/release.json' }
   * @see [docs/releases.md](./docs/releases.md)
   */
  readonly file?: string | undefined
}

export interface FleetOptions {
  /**
   * Joins all processes of this name, and not only those with the same parent: up to 32 letters, digits, dots
   * and dashes.
   *
   * @default undefined
   * @example fleet: { name: 'shop' }
   * @see [docs/fleet.md](./docs/fleet.md#choose-which-processes-belong-together)
   */
  readonly name?: string | undefined
  /**
   * The parent of the fleet's private directory, instead of the directory for temporary files.
   *
   * @default undefined
   * @example fleet: { directory: '/run/shop' }
   * @see [docs/fleet.md](./docs/fleet.md#where-it-keeps-its-files)
   */
  readonly directory?: string | undefined
}

/**
 * A logger with pino's signature: fields first, then a sentence. If it has `child`, a child with
 * `component: 'spillway'` is used. If it has no `info`, `warn` is called for lines of that level. A winston
 * logger is recognized and called with its own signature.
 *
 * @see [docs/logging.md](./docs/logging.md#where-lines-go)
 */
export interface Logger {
  info?(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** The members that registries of prom-client and @prometheus-io/client have in common. */
export interface MetricsRegistry {
  // biome-ignore lint/suspicious/noExplicitAny: each client has its own class
  registerMetric(metric: any): void
  getSingleMetric(name: string): unknown
  removeSingleMetric(name: string): void
  getMetricsAsArray(): readonly unknown[]
  metrics(): Promise<string>
}

/** The options in force, with all defaults. */
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
    readonly bodySizes: boolean
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
      | 'proxy'
      | `max${'EventLoopDelay' | 'EventLoopUtilization' | 'HeapUsedBytes' | 'RssBytes'}`
      | 'classify'
      | 'key'
      | 'shortage'
      | 'maxAge'
      | 'headers'
      | 'respond'
    > & {
      mode: NonNullable<ShedOptions['mode']>
      maxDelay: number
      targetDelay: number
      sampleInterval: number
      retryAfter: number
      errorMode: NonNullable<ShedOptions['errorMode']>
    }
  >
  readonly pressure: {
    readonly steps: readonly number[] | undefined
    readonly degradeAt: PressureOptions['degradeAt']
  }
  readonly proxy: { readonly requestStart: boolean | string | undefined }
  readonly deadline: { readonly [Name in keyof DeadlineOptions]-?: DeadlineOptions[Name] }
  readonly errors: {
    readonly answer: boolean
    readonly timeout: number | TimeoutFunction | undefined
    readonly timeoutStatus: 503 | 504
    readonly uncaught: NonNullable<ErrorOptions['uncaught']>
  }
  readonly health: { readonly manual: boolean; readonly maxPressure: number }
  readonly balancer: { readonly orca: BalancerOptions['orca'] }
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
  readonly insight: {
    readonly stalls: boolean | 'always'
    readonly stallThreshold: number
    readonly blockedAfter: number
    readonly hangAfter: number
    readonly hangReport: string | undefined
    readonly exitAfter: number
    readonly parts: boolean
    readonly doctor: boolean
    readonly outgoing: boolean
    readonly warnings: boolean
  }
  readonly release: {
    readonly version: string | undefined
    readonly revision: string | undefined
    readonly file: string | undefined
  }
  readonly registry: MetricsRegistry | undefined
  readonly logger: Logger | PinoOptions | false | undefined
}

// #endregion

// #region Options and results of the members

export interface AttachOptions {
  /**
   * Whether SIGTERM, SIGINT and the message 'shutdown' of a parent process drain every instance in this
   * process and then exit. The exit code is 0, or 1 if a request was cut off. A second signal exits at once.
   * PM2 gets the message 'ready' when the server listens. Ctrl-C and the restart by a watcher (SIGUSR2 of
   * nodemon too) wait only for requests in flight: see `drain.mode`.
   *
   * @default false
   * @example spillway.attach(server, { signals: true })
   * @see [docs/lifecycle.md](./docs/lifecycle.md#drain-on-sigterm)
   */
  readonly signals?: boolean | undefined

  /**
   * Whether only proxies connect to the server, such as nginx, HAProxy, Envoy or a load balancer of a cloud.
   * Raises `keepAliveTimeout`, `headersTimeout` and `requestTimeout` above the time for which proxies keep
   * idle connections. A timeout that is not Node's default is left as it is.
   *
   * @default false
   * @example spillway.attach(server, { behindProxy: true })
   * @see [docs/proxies.md](./docs/proxies.md#keep-alive)
   */
  readonly behindProxy?: boolean | undefined
}

/** A `Server` of socket.io, of any copy of it. */
export interface SocketIoServer {
  of: (...given: never[]) => unknown
  bind: (...given: never[]) => unknown
  readonly engine: unknown
}

/** A `WebSocketServer` of ws, of any copy of it. */
export interface WebSocketServer {
  handleUpgrade: (...given: never[]) => void
  shouldHandle: (...given: never[]) => unknown
  readonly options: object
}

export interface SocketsOptions {
  /**
   * For ws only: returns the kind of a message, which is its name in metrics. At most 100 kinds are kept
   * apart. By default each message is a `message`.
   *
   * @default undefined
   * @example spillway.sockets(wss, { kind: (data) => JSON.parse(String(data)).type })
   * @see [docs/sockets.md](./docs/sockets.md#measure-ws)
   */
  readonly kind?: { call(data: unknown, isBinary: boolean): string }['call'] | undefined
  /**
   * The class of a message. In overload, messages of the class `low` are answered with an error. By default
   * no message is.
   *
   * @default undefined
   * @example spillway.sockets(io, { priority: (event) => (event === 'typing' ? 'low' : 'normal') })
   * @see [docs/sockets.md](./docs/sockets.md#reject-messages)
   */
  readonly priority?: { call(event: string, socket: unknown): Priority | undefined }['call'] | undefined
}

export interface SocketsHandle {
  /** Stops watching the server and its connections, which stay open. `spillway.close()` does this too. */
  readonly close: () => void
}

/**
 * Answer to a message of low priority in overload. It is sent as the acknowledgement or as the event
 * `spillway:overloaded`, and by ws as JSON text.
 */
export interface OverloadedMessage {
  readonly error: 'spillway:overloaded'
  readonly event: string
  /** In seconds. */
  readonly retryAfter: number
}

/** The metrics, the liveness probe and the readiness probe. */
export type HandlerName = 'metrics' | 'live' | 'ready'

export interface ListenOptions {
  /**
   * 0 is any free port. In a cluster, the first worker that calls `listen` has the port. When it has exited,
   * another worker takes the port over.
   *
   * @default 9464
   * @example await spillway.listen({ port: 9000 })
   * @see [docs/admin.md](./docs/admin.md#options)
   */
  readonly port?: number | undefined

  /**
   * The address to listen on. An address other than loopback needs a token.
   *
   * @default '127.0.0.1'
   * @example await spillway.listen({ host: '0.0.0.0', token })
   * @see [docs/admin.md](./docs/admin.md#options)
   */
  readonly host?: string | undefined

  /**
   * The token that clients must send as `Authorization: Bearer <token>`: at least 16 visible ASCII
   * characters.
   *
   * @default undefined
   * @example await spillway.listen({ token: process.env.ADMIN_TOKEN })
   * @see [docs/admin.md](./docs/admin.md#options)
   */
  readonly token?: string | undefined

  /**
   * Further accepted values of the `Host` header, such as the name of a proxy, with its port if that differs.
   * Loopback names, `host` and the address of the connection are always accepted.
   *
   * @default []
   * @example await spillway.listen({ hosts: ['metrics.internal'] })
   * @see [docs/page.md](./docs/page.md#behind-a-proxy)
   */
  readonly hosts?: readonly string[] | undefined

  /**
   * Milliseconds within which a client must send its request, and within which it must read its answer. A
   * profile may take longer. A connection without an authorized request is closed after 1500 ms at most.
   *
   * @default 10000
   * @example await spillway.listen({ timeout: 30_000 })
   * @see [docs/admin.md](./docs/admin.md#options)
   */
  readonly timeout?: number | undefined

  /**
   * The number of connections. A further connection closes the oldest connection that has had no authorized
   * request. If there is none, it closes the connection that has been idle longest.
   *
   * @default 32
   * @example await spillway.listen({ maxConnections: 64 })
   * @see [docs/admin.md](./docs/admin.md#options)
   */
  readonly maxConnections?: number | undefined

  /**
   * The number of requests a second; further requests get 429. Requests that are not authorized are counted
   * separately.
   *
   * @default 20
   * @example await spillway.listen({ maxRequestsPerSecond: 50 })
   * @see [docs/admin.md](./docs/admin.md#options)
   */
  readonly maxRequestsPerSecond?: number | undefined

  /**
   * A second port that answers also while the loop is blocked: `/livez`, `/doctor`, `/stalls` and the last
   * `/metrics`. The thread that watches the loop serves it. The command line looks for it at the port after
   * `port`. 0 is any free port.
   *
   * @default undefined
   * @example await spillway.listen({ blockedPort: 9465 })
   * @see [docs/admin.md](./docs/admin.md#while-the-loop-is-blocked)
   */
  readonly blockedPort?: number | undefined
}

/** Where the admin server listens. */
export interface AdminAddress {
  readonly host: string
  readonly port: number
  /** For example `http://127.0.0.1:9464`. */
  readonly url: string
  /** The port that answers while the loop is blocked, with the option `blockedPort`. */
  readonly blockedPort?: number
}

export interface HealthChecks {
  /**
   * Adds a check that `/readyz` calls. A check fails if it throws, rejects, returns `false` or takes longer
   * than `timeout`. All checks run at the same time, and each has one call at a time. A check that ignores
   * its signal and never settles fails for good.
   *
   * @throws {SpillwayError} if a check of this name exists, or an option is unknown or has an invalid value
   */
  check(
    name: string,
    check: (given: { readonly signal: AbortSignal }) => unknown,
    options?: HealthCheckOptions
  ): void
}

export interface HealthCheckOptions {
  /**
   * How many milliseconds a check may take before its signal is aborted and it fails: above 0 and at most
   * 2147483647.
   *
   * @default 1000
   * @example spillway.health.check('db', () => pool.query('select 1'), { timeout: 3000 })
   * @see [docs/lifecycle.md](./docs/lifecycle.md#health-checks)
   */
  readonly timeout?: number | undefined

  /**
   * Milliseconds for which a result is reused.
   *
   * @default 1000
   * @example spillway.health.check('db', () => pool.query('select 1'), { cache: 5000 })
   * @see [docs/lifecycle.md](./docs/lifecycle.md#health-checks)
   */
  readonly cache?: number | undefined
}

/**
 * A pool: `MongoClient` of mongodb, connection of mongoose, `Pool` of pg, pool of mysql2, generic-pool or
 * tarn, instance of knex, `ConnectionPool` of mssql. A client or pool of redis, a client of ioredis, a `Pool`
 * or `Client` of undici, a `Worker` of BullMQ. An instance of Sequelize, a `DataSource` of TypeORM, or a
 * database of Drizzle: Spillway finds the pool below it. Any other pool is given by its figures.
 */
export type ObservablePool = object | PoolFigures

/**
 * The figures of a pool: numbers, or functions that return numbers and no promises. They are read when
 * figures are shown, such as by a scrape.
 */
export interface PoolFigures {
  /**
   * All open connections.
   *
   * @example spillway.pool('orders', { size: () => pool.totalCount, idle: 0, waiting: 0 })
   * @see [docs/pools.md](./docs/pools.md#which-pools)
   */
  readonly size: number | (() => number)
  /**
   * Idle connections.
   *
   * @example spillway.pool('orders', { size: 10, idle: () => pool.idleCount, waiting: 0 })
   * @see [docs/pools.md](./docs/pools.md#which-pools)
   */
  readonly idle: number | (() => number)
  /**
   * Callers that wait for a connection.
   *
   * @example spillway.pool('orders', { size: 10, idle: 0, waiting: () => pool.waitingCount })
   * @see [docs/pools.md](./docs/pools.md#which-pools)
   */
  readonly waiting: number | (() => number)
  /**
   * The most connections that the pool opens.
   *
   * @default undefined
   * @example spillway.pool('orders', { size: 10, idle: 0, waiting: 0, max: 20 })
   * @see [docs/pools.md](./docs/pools.md#which-pools)
   */
  readonly max?: number | (() => number) | undefined
}

export interface PoolOptions {
  /**
   * Milliseconds that a request may wait for connections of this pool. A request that would wait longer is
   * rejected on arrival, if its route is known to need the pool. `false` rejects none. By default the bound
   * is 180 ms, 500 ms in a burst, and no request is rejected while fewer than twenty callers are ahead.
   *
   * @default undefined
   * @example spillway.pool('orders', pool, { maxWait: 500 })
   * @see [docs/pools.md](./docs/pools.md#what-is-rejected)
   */
  readonly maxWait?: number | false | undefined
  /**
   * Measures the queries of mongodb, pg and mysql2 by operation and table or collection, and how many each
   * request of a route makes. The text of a query is not kept.
   *
   * @default false
   * @example spillway.pool('orders', pool, { queries: true })
   * @see [docs/pools.md](./docs/pools.md#queries)
   */
  readonly queries?: boolean | undefined
}

export interface PoolHandle {
  /** Stops observing the pool, and restores its methods. A second call changes nothing. */
  close(): void
}

/** The type of a method, so that you can annotate `req` and `ctx` with the classes of your framework. */
export type LimitKey = {
  key(req: Request, ctx?: { readonly req: Request; readonly res: Response }): string | undefined
}

/** The options of `limit()`. */
export interface LimitOptions {
  /**
   * Names the limit in the reason `limit:<name>`, in metrics and on the page: up to 64 visible characters
   * without spaces and quotes.
   *
   * @example spillway.limit({ name: 'reports', maxConcurrent: 4 })
   * @see [docs/bulkheads.md](./docs/bulkheads.md#options)
   */
  readonly name: string
  /**
   * The most requests that run at a time.
   *
   * @example spillway.limit({ name: 'reports', maxConcurrent: 4 })
   * @see [docs/bulkheads.md](./docs/bulkheads.md#options)
   */
  readonly maxConcurrent: number
  /**
   * Milliseconds that a request may wait for a slot, not counting stalls of the loop. 0: no request waits.
   *
   * @default 500
   * @example spillway.limit({ name: 'reports', maxConcurrent: 4, maxWait: 2000 })
   * @see [docs/bulkheads.md](./docs/bulkheads.md#who-waits-and-who-is-rejected)
   */
  readonly maxWait?: number | undefined
  /**
   * The most requests that wait. A full queue rejects the request that would run last. By default only
   * `maxWait` bounds the queue.
   *
   * @default undefined
   * @example spillway.limit({ name: 'reports', maxConcurrent: 4, maxQueue: 20 })
   * @see [docs/bulkheads.md](./docs/bulkheads.md#who-waits-and-who-is-rejected)
   */
  readonly maxQueue?: number | undefined
  /**
   * Returns the client that a request counts for: each key gets an equal share of the slots while requests
   * wait. `ctx` is Koa's context. By default `shed.key`.
   *
   * @default undefined
   * @example spillway.limit({ name: 'reports', maxConcurrent: 4, key: (req) => req.headers.host })
   * @see [docs/bulkheads.md](./docs/bulkheads.md#options)
   */
  readonly key?: LimitKey['key'] | undefined
}

export interface AgentOptions {
  /**
   * Port, or 0 for a free one. In a cluster give each worker its own.
   *
   * @default 9465
   * @example await spillway.agent({ port: 9470 })
   * @see [docs/balancers.md](./docs/balancers.md#the-agent-of-haproxy)
   */
  readonly port?: number | undefined
  /**
   * Host name or address to listen on.
   *
   * @default '127.0.0.1'
   * @example await spillway.agent({ host: '10.0.0.7' })
   * @see [docs/balancers.md](./docs/balancers.md#the-agent-of-haproxy)
   */
  readonly host?: string | undefined
}

export interface AgentAddress {
  readonly host: string
  readonly port: number
}

/** A request or a response of Node, Express, Koa or Restify, a context of Koa, or a request of Fastify. */
export type RequestHolder =
  | Request
  | Response
  | { readonly req: Request; readonly res: Response }
  | { readonly raw: Request | Response }

/** Why a signal of `signal()` has aborted: the `code` of its reason. */
export type AbortCode =
  /** The client disconnected before its answer was complete. */
  | 'ERR_SPILLWAY_CLIENT_DISCONNECTED'
  /** The deadline of the request has passed. */
  | 'ERR_SPILLWAY_DEADLINE'
  /** A drain ended the request: an event stream, or a request that was in flight after `drain.timeout`. */
  | 'ERR_SPILLWAY_DRAIN'
  /** The application, or an error after the head, destroyed the response. */
  | 'ERR_SPILLWAY_RESPONSE_CUT'
  /** `errors.timeout` has passed, and spillway has answered the request. */
  | 'ERR_SPILLWAY_TIMEOUT'

/** How a drain went. */
export interface DrainReport {
  /** The requests that were still in flight at the timeout, and were cut off. */
  readonly cut: number
  readonly durationMs: number
}

// #endregion

// #region Rejected requests, and events

/** From `critical`, rejected last, to `low`, rejected first. `bypass` is neither queued nor rejected. */
export type Priority = 'critical' | 'high' | 'normal' | 'low' | 'bypass'

/** Why a request was rejected. */
export type ShedReason =
  /** The event loop is full: the request would wait too long for it, or waited too long. */
  | 'loop'
  /** `shed.maxConcurrent` requests are in flight, and the request would wait too long, or waited too long. */
  | 'concurrency'
  /** The heap in use after a major collection nears its limit. */
  | 'memory'
  | 'shortage'
  /** The request would wait in the queue past its deadline, or past `shed.maxAge`. */
  | 'deadline'
  /** The request was older than its deadline, or than `shed.maxAge`, when it arrived. */
  | 'age'
  | 'event_loop_delay'
  | 'event_loop_utilization'
  | 'heap_used_bytes'
  | 'rss_bytes'
  /** `close()` was called while the request was queued. */
  | 'closed'
  /** The request would wait too long for a connection of the pool of that name: see `pool()`. */
  | `pool:${string}`
  /**
   * As many requests as `limit()` of that name allows run already, and the request cannot wait, or waited too
   * long.
   */
  | `limit:${string}`

/**
 * Why a request was rejected. `docs/admission.md` lists what `value` and `bound` are for each reason.
 *
 * @see [docs/admission.md](./docs/admission.md#why-was-a-request-rejected)
 */
export interface ShedCause {
  readonly reason: ShedReason
  /** The number that decided, such as the wait in milliseconds; `null` if there is none. */
  readonly value: number | null
  /** Largest `value` that is allowed; `null` without a number. */
  readonly bound: number | null
}

/**
 * The facts of a rejection, for `shed.respond`, `shed.headers` and `OverloadError`.
 *
 * @see [docs/rejected-requests.md](./docs/rejected-requests.md#what-the-functions-get)
 */
export interface ShedVerdict extends ShedCause {
  /** The resource that is short. Do not send it to clients, because an attacker could use it. */
  readonly reason: ShedReason
  /** The class of the request; never `bypass`. */
  readonly priority: Priority
  /** The value of `Retry-After`, a whole number. */
  readonly retryAfterSeconds: number
}

/**
 * The events of `on()`, each with its details.
 *
 * @see [docs/options.md](./docs/options.md#events)
 */
export interface SpillwayEvents {
  /** A loop turn was busy for `insight.stallThreshold` or longer: its site, and how long this turn was. */
  readonly stall: StallSite & { readonly durationMs: number }
  /** The first request was rejected, for this cause. */
  readonly overload: ShedCause
  /** No request has been rejected for ten seconds. */
  readonly recovered: {
    /** The most frequent reason. */
    readonly reason: ShedReason
    /** How many requests were rejected, by reason. */
    readonly reasons: Readonly<Partial<Record<ShedReason, number>>>
    /** The time from the first rejection to the last: 0 for a single one. */
    readonly durationMs: number
    readonly rejected: number
  }
  /** The pressure has passed one of `pressure.steps`, on its way up or down. */
  readonly pressure: {
    readonly pressure: number
    readonly step: number
    readonly isAbove: boolean
    /** The resource that is shortest now. */
    readonly by: 'loop' | 'queue' | 'pool' | 'rejections' | 'memory' | 'shortage'
  }
  /** Memory has been above `memory.recycleAt` for `memory.recycleAfter`. The process will drain and exit. */
  readonly degraded: {
    readonly reason: 'heap' | 'rss'
    readonly usedBytes: number
    /** The level of this process, derived from `recycleAt`. */
    readonly levelBytes: number
  }
  /** A drain has begun. End event streams and WebSockets that would not end by themselves. */
  readonly draining: {
    /** The cause, such as 'SIGTERM', or 'drain' for a call of `drain()`. */
    readonly reason: string
    readonly mode: 'production' | 'development'
    readonly delayMs: number
    readonly timeoutMs: number
  }
}

// #endregion

// #region clusterPrimary()

export interface ClusterPrimaryOptions {
  /**
   * The number of workers, at least 1. By default `os.availableParallelism()`.
   *
   * @default undefined
   * @example clusterPrimary({ workers: 4 })
   * @see [docs/fleet.md](./docs/fleet.md#clusterprimary)
   */
  readonly workers?: number | undefined

  /**
   * The file that a worker runs. By default the main module of the primary.
   *
   * @default undefined
   * @example clusterPrimary({ exec: './dist/server.js' })
   * @see [docs/fleet.md](./docs/fleet.md#clusterprimary)
   */
  readonly exec?: string | undefined

  /**
   * How many milliseconds a new worker may take until it is listening and ready. Then it is killed and
   * replaced.
   *
   * @default 60000
   * @example clusterPrimary({ startTimeout: 120_000 })
   * @see [docs/fleet.md](./docs/fleet.md#clusterprimary)
   */
  readonly startTimeout?: number | undefined

  /**
   * How many milliseconds a worker may take to exit before it is killed. Must exceed `drain.delay` plus 1.25
   * times `drain.timeout` plus 1 s, which is 31 s by default.
   *
   * @default 35000
   * @example clusterPrimary({ killTimeout: 60_000 })
   * @see [docs/fleet.md](./docs/fleet.md#clusterprimary)
   */
  readonly killTimeout?: number | undefined

  /**
   * Whether SIGTERM and SIGINT stop all workers and end the process, and SIGUSR2 restarts the workers.
   *
   * @default true
   * @example clusterPrimary({ signals: false })
   * @see [docs/fleet.md](./docs/fleet.md#clusterprimary)
   */
  readonly signals?: boolean | undefined

  /**
   * The logger of the primary, as in `createSpillway`.
   *
   * @default undefined
   * @example clusterPrimary({ logger: false })
   * @see [docs/fleet.md](./docs/fleet.md#clusterprimary)
   */
  readonly logger?: Logger | PinoOptions | false | undefined
}

export interface ClusterPrimary {
  /**
   * Replaces all workers, one after the other: starts the new worker, then the old one drains and exits.
   *
   * @throws {SpillwayError} The promise rejects if several new workers in a row crash or are not ready in
   *   time. The old workers stay
   */
  restart(): Promise<void>

  /** Makes all workers drain and exit, and forks no more. Resolves when all workers have exited. */
  stop(): Promise<void>

  /** The current workers, and how many were replaced, crashed and were killed. */
  snapshot(): ClusterSnapshot

  /** Calls `listener` on an event of a worker. */
  on<Event extends keyof ClusterPrimaryEvents>(
    event: Event,
    listener: (details: ClusterPrimaryEvents[Event]) => void
  ): void

  /** Removes a listener. */
  off<Event extends keyof ClusterPrimaryEvents>(
    event: Event,
    listener: (details: ClusterPrimaryEvents[Event]) => void
  ): void
}

export interface ClusterPrimaryEvents {
  /** All workers are ready for the first time. */
  readonly ready: { readonly workers: number }
  /** A worker asked for a replacement. */
  readonly degraded: { readonly pid: number; readonly reason: string }
  /** A new worker is ready, and the old one has exited. */
  readonly replaced: { readonly pid: number; readonly reason: string; readonly durationMs: number }
  /**
   * A worker exited without being asked to; a new worker is forked. `pid` is undefined if the worker could
   * not be spawned.
   */
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
    /** `undefined` if the worker could not be spawned, until `'crashed'` reports it. */
    readonly pid: number | undefined
    readonly state: 'starting' | 'ready' | 'leaving'
    readonly uptimeSeconds: number
  }[]
  readonly replaced: number
  readonly crashed: number
  readonly killed: number
}

// #endregion

// #region Servers and frameworks

export type Request = IncomingMessage | Http2ServerRequest
export type Response = ServerResponse | Http2ServerResponse

export type Handler = (req: Request, res: Response) => void

/** The type of a method, so that you can annotate `req` and `res` with the classes of your framework. */
export type RouteLabel = {
  label(req: Request, res: Response, template: string | undefined): string | undefined
}['label']

export type HttpListener = (req: IncomingMessage, res: ServerResponse) => unknown

/** A listener that also takes requests of http2, such as Koa's, still does after `wrap`. */
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

/** Result of `limit()`: a middleware of Express, Connect and Restify, and of Koa. */
export type LimitMiddleware = ExpressMiddleware & KoaMiddleware

// biome-ignore lint/suspicious/noExplicitAny: a server of any request and response class
export type AttachableServer = HttpServer<any, any> | HttpsServer<any, any> | Http2Server | Http2SecureServer

/** An object that contains an http server: of Restify, Fastify, Socket.IO, hapi or Nest. */
export type ServerHolder =
  | { readonly server: AttachableServer }
  | { readonly httpServer: AttachableServer }
  | { readonly listener: AttachableServer }
  // biome-ignore lint/suspicious/noExplicitAny: Nest's own type is `any`
  | { getHttpServer(): any }

// #endregion

// #region snapshot(), diagnose() and fleetSnapshot()

/**
 * How a request ended. `completed`: the whole answer was written to the connection, with a status below 500.
 * `errored`: the status was 500 or more, or the server cut the answer off. `aborted`: the client disconnected
 * before the end of the answer. `upgraded`: the connection switched to another protocol. `timed_out`: the
 * handler did not answer within `errors.timeout`.
 */
export type Outcome = 'completed' | 'errored' | 'aborted' | 'upgraded' | 'timed_out'

/**
 * All figures of one moment. Durations in milliseconds, sizes in bytes, ratios from 0 to 1.
 *
 * @see [docs/snapshot.md](./docs/snapshot.md)
 */
export interface Snapshot {
  /** When the snapshot was taken, in ISO 8601. */
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
   * The ten requests that have been in flight longest, the oldest first. Requests without an answer come
   * before requests that are answering, such as event streams.
   */
  readonly oldest: readonly RequestInFlight[]
  /** Uncaught exceptions and unhandled rejections. */
  readonly processErrors: Readonly<Record<'uncaughtException' | 'unhandledRejection', number>>
  /** Data on connections of attached servers that was not an HTTP request, counted by error code. */
  readonly clientErrors: Readonly<Record<string, number>>
  /** The ten slowest requests of the last one to two minutes, except streams, the slowest first. */
  readonly slowest: readonly SlowRequest[]
  /** Calls of this process to other servers, by `fetch`, undici and `node:http`. */
  readonly outgoing: OutgoingSnapshot
  /** Connections and events of what was given to `sockets()`. */
  readonly sockets: SocketsSnapshot
  /** The limits that `limit()` made. */
  readonly bulkheads: readonly LimitSnapshot[]
  /** Ages and deadlines of requests. `null` without `proxy.requestStart` and `deadline`. */
  readonly deadlines: DeadlinesSnapshot | null
  /** The pools that were given to `pool()`. */
  readonly pools: readonly PoolSnapshot[]
  /** Warnings that the process emitted, such as MaxListenersExceededWarning. */
  readonly warnings: WarningsSnapshot
  /** Admitted, queued and rejected requests. */
  readonly admission: AdmissionSnapshot
  /**
   * Errors that reached `errorHandler()` or `koa()`, in the order first seen, without disconnects and
   * rejected requests.
   */
  readonly errors: readonly ErrorCount[]
  /** The state of the process: loop, CPU, memory. */
  readonly runtime: RuntimeSnapshot
  /** Errors inside this package, or in callbacks it was given, that were caught: a count for each place. */
  readonly internalErrors: Readonly<Record<string, number>>
  /** The code that blocked the event loop. */
  readonly stalls: StallsSnapshot
  /**
   * Features that are off because Node's permission model (`--permission`) forbids what they need. Empty
   * without the permission model.
   */
  readonly forbidden: readonly ForbiddenFeature[]
  /** This release beside the one before it. */
  readonly releases: ReleasesSnapshot
}

/** A feature that Node's permission model turns off. */
export interface ForbiddenFeature {
  /** Such as 'stall-functions' or 'profiles': docs/development.md has them all. */
  readonly feature: string
  /** The missing flags, such as '--allow-worker'. */
  readonly grants: readonly string[]
}

/**
 * Loop turns that were busy for `insight.stallThreshold` or longer.
 *
 * @see [docs/stalls.md](./docs/stalls.md#stalls)
 */
export interface StallsSnapshot {
  /** Counts since `createSpillway()`. */
  readonly count: number
  readonly totalMs: number
  /** At most 50, the costliest first. */
  readonly sites: readonly StallSite[]
}

export type StallCause = 'javascript' | 'native' | 'garbage-collection' | 'host' | 'unknown'

/** The stalls of one function on one route. */
export interface StallSite {
  /**
   * `native`: a synchronous call into Node or an addon. `host`: the thread waited for a CPU. `unknown`: the
   * watching thread did not run yet.
   */
  readonly cause: StallCause
  /**
   * The innermost function of the application; of a package where no function of the application was on the
   * stack.
   */
  readonly function: string | null
  readonly file: string | null
  /** The line that blocked for the longest time in total. */
  readonly line: number | null
  /**
   * The function of Node or V8 that the line called and that blocked, such as `fs.readFileSync`; `null` where
   * it is not known. Only a call that was seen in more than half of the stalls is shown.
   */
  readonly call: string | null
  /** The largest body that `JSON.parse` or `JSON.stringify` blocked for, where its length is known. */
  readonly bodyBytes: number | null
  /** The package whose code the function had called, if any. */
  readonly package: string | null
  readonly route: string | null
  readonly method: string | null
  /**
   * `event`: an event of a socket, whose name is in `route`. `startup`: before the first request. `null`
   * where the code is not known.
   */
  readonly origin: 'request' | 'event' | 'background' | 'startup' | null
  readonly count: number
  readonly totalMs: number
  readonly maxMs: number
  /** In ISO 8601. */
  readonly lastAt: string
  /** The stack, the innermost frame first. */
  readonly frames: readonly string[]
}

/** A limit of `limit()`. */
export interface LimitSnapshot {
  readonly name: string
  readonly maxConcurrent: number
  /** `null` if `maxQueue` is not given. */
  readonly maxQueue: number | null
  /**
   * The option `maxWait`. A request whose deadline or `errors.timeout` comes earlier waits only until that
   * time.
   */
  readonly maxWaitMs: number
  /** Requests that occupy a slot. In mode `observe` there may be more than `maxConcurrent`. */
  readonly running: number
  readonly queued: number
  readonly admitted: number
  /**
   * Includes requests whose client closed the connection normally while they were queued, because that looks
   * like a half-close.
   */
  readonly rejected: number
  /** Requests that would have been rejected, in mode `observe`. */
  readonly wouldReject: number
  /** Requests whose connection was reset while they were queued. */
  readonly abandoned: number
  /** The mean time for which a request occupies its slot; recent requests count more. */
  readonly heldMs: number
}

export interface DeadlinesSnapshot {
  /** How long requests were in the proxy. `null` without `proxy.requestStart`. */
  readonly proxy: ProxySnapshot | null
  /** Requests with a deadline. Each is counted when its deadline is first asked for. */
  readonly withDeadline: number
  /** Outgoing calls with a header that says how much time is left until the deadline. */
  readonly forwarded: number
}

export interface ProxySnapshot {
  /** Requests with a stamp that is believed. */
  readonly requests: number
  /** Requests without a stamp. */
  readonly without: number
  /**
   * Requests whose stamp is not believed, because it is not a time, is over five minutes old, or is over a
   * second in the future. Also requests that were not rejected because their age was doubted.
   */
  readonly implausible: number
  /** The sum of the times in the proxy. */
  readonly totalMs: number
  /**
   * How far the clock of a proxy is behind at most. Spillway learns this difference, and subtracts it from
   * ages. Negative: how far a clock is ahead.
   */
  readonly clockDifferenceMs: number
  /** Over the last half minute to minute. */
  readonly lastMinute: LatencySummary
}

/**
 * A pool that was given to `pool()`.
 *
 * @see [docs/pools.md](./docs/pools.md)
 */
export interface PoolSnapshot {
  readonly name: string
  readonly kind:
    | 'mongodb'
    | 'pg'
    | 'mysql2'
    | 'mariadb'
    | 'tarn'
    | 'generic-pool'
    | 'sequelize'
    | 'redis'
    | 'ioredis'
    | 'undici'
    | 'bullmq'
    | 'given'
  /** Connections in use. */
  readonly used: number
  readonly idle: number
  /** Callers that wait for a connection. */
  readonly waiting: number
  /** `null` if the pool does not say how many connections it opens at most. */
  readonly max: number | null
  /**
   * How long the next caller waits: `waiting`, times the mean time of a use, divided by `max`. `null` where
   * that is not known.
   */
  readonly expectedWaitMs: number | null
  /**
   * The longest wait allowed now, for a request that asks for one connection. It is the option
   * `maxWait`. Without this option, it is 500 ms in a burst, and 180 ms after that, or longer if uses are
   * long or differ much. `null` if no request is rejected for this pool.
   */
  readonly maxWaitMs: number | null
  /** Callers that waited until they timed out. */
  readonly timeouts: number
  /**
   * The time that callers waited. For ioredis, clients of redis, undici, BullMQ and given figures it is not
   * known, and counts are 0.
   */
  readonly wait: PoolTimes
  /** The time from getting a connection to giving it back. */
  readonly use: PoolTimes
  /**
   * The routes whose requests held connections, at most twenty. The route that held connections longest in
   * the last minute comes first.
   */
  readonly holders: readonly PoolHolder[]
  /** The ten connections that have been held longest and are not given back yet. */
  readonly longestHeld: readonly {
    readonly method: string | null
    readonly route: string | null
    readonly ageMs: number
  }[]
  /**
   * With `queries: true`: the kinds of queries, at most twenty. The kind that took the most time in the last
   * minute comes first.
   */
  readonly queries: readonly QueryFigures[]
}

export interface QuerySums {
  readonly count: number
  readonly errors: number
  readonly meanMs: number
  readonly maxMs: number
}

export interface QueryFigures {
  /** Such as `find` or `SELECT`; `(other)` past a hundred kinds. */
  readonly operation: string
  /** The table or collection; `null` if the query names none. */
  readonly collection: string | null
  readonly lastMinute: QuerySums
  readonly sinceStart: QuerySums
  /** The five routes whose queries of this kind took the most time. */
  readonly routes: readonly {
    readonly method: string | null
    readonly route: string | null
    readonly count: number
    /** Mean number for each request that makes one; `null` outside of requests. */
    readonly perRequest: number | null
  }[]
}

export interface PoolTimes {
  readonly lastMinute: PoolTimesSummary
  readonly sinceStart: PoolTimesSummary
}

export interface PoolTimesSummary {
  readonly count: number
  readonly meanMs: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

export interface PoolHolder {
  /**
   * `null` if the request is not known: in the background, and on Node 20 and 22 before anybody had to wait.
   * So is `route`.
   */
  readonly method: string | null
  readonly route: string | null
  readonly lastMinute: PoolHolds
  readonly sinceStart: PoolHolds
}

/** Connections that were given back. */
export interface PoolHolds {
  readonly count: number
  readonly heldMs: number
  readonly maxMs: number
}

/**
 * Calls that the application makes, by host and port, and by the route that asked.
 *
 * @see [docs/where-time-goes.md](./docs/where-time-goes.md#outgoing-calls)
 */
export interface OutgoingSnapshot {
  /**
   * At most fifty hosts, and `routes.overflow`. The host whose calls took the most time in the last minute
   * comes first.
   */
  readonly hosts: readonly OutgoingHost[]
  /**
   * Calls to hosts that are not listed: they are counted under `routes.overflow`, or another host has
   * replaced theirs.
   */
  readonly folded: number
}

export interface OutgoingHost {
  /** The name or address as the call has it, with the port unless it is 80 or 443. */
  readonly host: string
  /** Over the last 60 to 70 seconds. */
  readonly lastMinute: OutgoingHostSums
  readonly sinceStart: OutgoingHostSums
  /** The routes whose requests made the calls. The route with the most time comes first. */
  readonly routes: readonly OutgoingRoute[]
}

export interface OutgoingRoute {
  /**
   * `null` if the request is not known: in the background, and after an `await` on Node 20 and 22. So is
   * `route`.
   */
  readonly method: string | null
  readonly route: string | null
  readonly lastMinute: OutgoingCallSums
  readonly sinceStart: OutgoingCallSums
}

/** Sums of calls that ended: their response was read, or they failed. */
export interface OutgoingCallSums {
  readonly count: number
  /** Calls without a whole response, and calls that were answered with 5xx. */
  readonly errors: number
  readonly totalMs: number
  readonly maxMs: number
}

/** With parts of `totalMs`. The rest is the wait for a connection of a pool, and the time of bodies. */
export interface OutgoingHostSums extends OutgoingCallSums {
  /** Calls that opened a connection, or tried to. The others used a kept one. */
  readonly connections: number
  /** Time to look up the name of the host (DNS). */
  readonly lookupMs: number
  /** Time to connect: TCP and TLS. */
  readonly connectMs: number
  /** From the whole request to the head of the response. */
  readonly firstByteMs: number
}

/**
 * Servers that were given to `sockets()`.
 *
 * @see [docs/sockets.md](./docs/sockets.md#what-is-measured)
 */
export interface SocketsSnapshot {
  readonly connections: {
    readonly open: number
    /** Connections that opened since `sockets()` was called. */
    readonly opened: number
    readonly transports: readonly {
      readonly transport: 'polling' | 'websocket' | 'webtransport' | 'other'
      readonly open: number
      readonly opened: number
    }[]
    /** By reason, those above 0. */
    readonly closed: Readonly<Partial<Record<SocketCloseReason, number>>>
    /** Answered with 503, by reason. */
    readonly refused: Readonly<Record<string, number>>
    /** Handshakes that wait until the loop has room. */
    readonly held: number
    /**
     * The share of the loop that is left for connections which open now. At 0 and below, new connections are
     * held. 1 before `sockets()`.
     */
    readonly room: number
  }
  readonly messages: {
    readonly received: number
    readonly receivedBytes: number
    readonly sent: number
    readonly sentBytes: number
  }
  /** At most 100, `(unhandled)` and `routes.overflow`: the most frequent first. */
  readonly events: readonly SocketEventSnapshot[]
  /** Messages of further events, counted under `routes.overflow`. */
  readonly folded: number
}

export type SocketCloseReason =
  | 'client_close'
  | 'server_close'
  | 'lost'
  | 'ping_timeout'
  | 'protocol_error'
  | 'application'
  | 'other'

export interface SocketEventSnapshot {
  /** Of ws, what `kind` returned. `(unhandled)`: events that nobody listens to. */
  readonly event: string
  readonly outcomes: Readonly<Record<'completed' | 'errored' | 'blocked' | 'shed', number>>
  /** From receipt to the end of the listeners; `null` before the first. */
  readonly lastMinute: LatencySummary | null
  readonly sinceStart: LatencySummary | null
  /** From receipt to the acknowledgement; `null` if none was ever sent. */
  readonly acks: { readonly lastMinute: LatencySummary; readonly sinceStart: LatencySummary } | null
}

export interface WarningsSnapshot {
  /** Since the start, by name: at most thirty, then `_OTHER`. */
  readonly counts: Readonly<Record<string, number>>
  /** The last ten that differ, the latest first. */
  readonly recent: readonly {
    readonly name: string
    /** The message, with what may be secret masked. */
    readonly message: string
    /** The file, line and column of the application that caused it, if its stack has one. */
    readonly at: string | null
    readonly count: number
    readonly lastAt: string
    /** Of `MaxListenersExceededWarning`: how many listeners of the event the emitter has now. */
    readonly listeners?: number
  }[]
}

/**
 * Result of `diagnose()`.
 *
 * @see [docs/insight.md](./docs/insight.md#ask-the-doctor)
 */
export interface Diagnosis {
  /** When it was made, in ISO 8601. */
  readonly at: string
  /** How many seconds the figures cover, a minute at most. */
  readonly seconds: number
  /** How many requests ended in these seconds, without rejected requests. */
  readonly requests: number
  /**
   * Milliseconds for which the loop has been blocked and still is. Only the port of `listen({ blockedPort })`
   * answers this. The first finding is then about the block. `seconds`, `requests` and the other findings are
   * from the time before it.
   */
  readonly blockedMs?: number
  /** `null` if there is too little traffic to tell, or if a request waits unusually long for its answer. */
  readonly healthy: boolean | null
  /** One sentence: the first finding, or that there is none. */
  readonly summary: string
  /** Sorted by severity, causes before their effects. */
  readonly findings: readonly Finding[]
}

/** A second of the process, as `/live` of the admin server streams it. What is not known is `null`. */
export interface LivePoint {
  /** When the second was over, in milliseconds since the epoch. */
  readonly at: number
  /** Requests that ended in this second. `errors` are among them, and `shed` are the rejected requests. */
  readonly requests: number
  readonly errors: number
  readonly shed: number
  /** Milliseconds, of the requests that ended in this second; `null` without any. */
  readonly p50: number | null
  readonly p99: number | null
  readonly inFlight: number
  /** How many requests may be in flight; `null` if nothing limits them. */
  readonly limit: number | null
  readonly queued: number
  /** How long the loop turns of this second were busy, in milliseconds. */
  readonly loopDelayP99: number | null
  /** The busy share of the second. */
  readonly utilization: number
  /** Milliseconds of stalls that ended in this second; `null` with `insight.stalls: false`. */
  readonly stallMs: number | null
  /** Bytes in use after the last major collection; `null` before the first. */
  readonly heapAfterGc: number | null
  readonly heapUsed: number
  readonly rss: number
}

/** The latencies of a route over the last ten minutes, as `/routes/heat` of the admin server answers. */
export interface RouteHeatMap {
  readonly method: string
  readonly route: string
  /** Whether the route is among those whose latencies are kept. If not, no column has a request. */
  readonly isKept: boolean
  /** Where each row starts, in milliseconds. A row ends where the next one starts, the last at 60 seconds. */
  readonly rowStartsMs: readonly number[]
  /**
   * The oldest first. A column is ten seconds, or longer if the process was idle. The last one is not full
   * yet.
   */
  readonly columns: readonly {
    /** Milliseconds since the epoch. */
    readonly from: number
    readonly to: number
    /** How many requests ended in each row; a row without any is left out. */
    readonly cells: readonly (readonly [row: number, requests: number])[]
  }[]
}

/** Which service, which Node, which machine and which process. */
export interface ProcessDescription {
  /**
   * From `OTEL_SERVICE_NAME`, a variable of the platform or npm; else the main file with its folder. Empty if
   * unknown.
   */
  readonly service: string
  readonly pid: number
  readonly host: string
  /** The version of Node. */
  readonly node: string
  readonly platform: string
  readonly cpus: number
  readonly cpuModel: string
  readonly memoryBytes: number
}

/**
 * How often each latency occurred. `cells` has two numbers for each cell, the lowest cell first: its highest
 * value in microseconds, and its count.
 */
export interface LatencyCounts {
  readonly maxUs: number
  readonly cells: readonly number[]
}

/** Answer of `/totals` of the admin server. The difference of two answers covers the time between them. */
export interface RunTotals {
  /** When it was taken, in milliseconds since the epoch. */
  readonly at: number
  readonly process: ProcessDescription & {
    readonly spillway: string
    /**
     * The id of the instance, made once by each `createSpillway()`. Counters of different instances cannot be
     * subtracted.
     */
    readonly instance: string
  }
  readonly snapshot: Snapshot
  /** Since the start; of the two hundred routes with the most requests. */
  readonly latencies: {
    readonly all: LatencyCounts
    readonly routes: readonly ({ readonly method: string; readonly route: string } & LatencyCounts)[]
  }
}

/**
 * A claim, with the figures that it rests on.
 *
 * @see [docs/insight.md](./docs/insight.md#problems)
 */
export interface Finding {
  readonly problem:
    | 'event-loop-blocked'
    | 'cpu-saturated'
    | 'garbage-collection'
    | 'heap-growing'
    | 'slow-dependency'
    | 'many-calls'
    | 'pool-exhausted'
    | 'thread-pool'
    | 'host-starved'
    | 'cpu-throttled'
    | 'overloaded'
    | 'orphaned-requests'
    | 'aborted-requests'
    | 'errors'
    | 'listener-leak'
    | 'slow-clients'
    | 'keep-alive'
    | 'work-after-disconnect'
  /** A cause is as severe as the worst of its effects. */
  readonly severity: 'high' | 'medium' | 'low'
  /**
   * How large the problem is, from 0 to 1: a share of the time, of the requests or of the heap. `summary`
   * says which.
   */
  readonly share: number
  /** Method and template; `null` where it is a problem of the process. */
  readonly route: string | null
  /** One sentence. */
  readonly summary: string
  readonly evidence: readonly { readonly name: string; readonly value: number; readonly unit: string }[]
  /** The next step. */
  readonly advice: string
  /** The finding that explains this one. */
  readonly effectOf: Finding['problem'] | null
  /** The page, in the package, that describes the problem. */
  readonly more: string
}

/**
 * The figures of this release and of the one before it.
 *
 * @see [docs/releases.md](./docs/releases.md)
 */
export interface ReleasesSnapshot {
  /** This process. */
  readonly current: ReleaseSnapshot
  /**
   * From `release.file`: the process of the previous release that answered the most requests. `null` if
   * unknown.
   */
  readonly previous: ReleaseSnapshot | null
  /** The routes that both releases answered, of the fifty with the most requests in the previous one. */
  readonly routes: readonly {
    readonly method: string
    readonly route: string
    readonly current: ReleaseFigures
    readonly previous: ReleaseFigures
  }[]
}

export interface ReleaseSnapshot {
  /** Empty if unknown, as is `revision`. */
  readonly version: string
  readonly revision: string
  /** When the first process of this release started, in ISO 8601. */
  readonly since: string
  /** When the figures were written; `null` for the running release. */
  readonly until: string | null
  readonly requests: ReleaseFigures
}

/** The figures of one process since its start. Without requests, quantiles are 0. */
export interface ReleaseFigures {
  readonly count: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
  /** Share of `count` whose outcome was `errored` or `timed_out`. */
  readonly errorRatio: number
  /**
   * The share of all arrivals that was rejected, which `count` excludes. Estimated for routes: see
   * `RouteSnapshot.shed`.
   */
  readonly shedRatio: number
}

/** Without requests, quantiles are 0. */
export interface LatencySummary {
  /** Requests, streams included. */
  readonly count: number
  /**
   * Over the whole span of the summary, idle time included. `lastMinute` covers 30 to 60 s, or the time since
   * the start if that is shorter.
   */
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
  /** A method that OpenTelemetry lists, or `_OTHER`. */
  readonly method: string
  /** The route's template, such as `/users/:id`. */
  readonly route: string
  /** Over the last half minute to minute. */
  readonly lastMinute: LatencySummary
  readonly sinceStart: LatencySummary
  readonly outcomes: Readonly<Record<Outcome, number>>
  /** The mean time until the head of the answer was written. */
  readonly firstByteMeanMs: number
  /** Received on the connection, heads included. */
  readonly requestBytes: number
  /** Sent on the connection, heads included. */
  readonly responseBytes: number
  /** Event streams and other long bodies, which are in no quantile. */
  readonly streams: { readonly count: number; readonly totalSeconds: number }
  /**
   * Sums of the parts of its requests, streams excepted. `lastMinute` covers the last half minute to minute.
   * `unreadMs` is in no duration. `null` with `insight.parts: false`.
   */
  readonly parts: {
    readonly sinceStart: RequestParts & { readonly unreadMs: number; readonly proxyMs: number }
    readonly lastMinute: RequestParts & { readonly unreadMs: number; readonly proxyMs: number }
  } | null
  /**
   * Time that the handlers of the route ran on the event loop until they first returned. Later work counts if
   * the handler then calls another service, asks a pool, or writes the head. Collections and streams are
   * included. `null` with `insight.parts: false`.
   */
  readonly loopMs: { readonly sinceStart: number; readonly lastMinute: number } | null
  /**
   * Requests whose client disconnected before an answer began, long polls of Socket.IO excepted. `null` with
   * `insight.parts: false`.
   */
  readonly gaveUp: { readonly sinceStart: number; readonly lastMinute: number } | null
  /**
   * An estimate of the rejected requests for this route. No router saw these requests, so the URL is matched
   * against the templates that have answered before. If many requests are rejected, one in sixteen is
   * matched. Excludes routes with a RegExp, and your own labels.
   */
  readonly shed: number
}

/** Contains no data of the client: no URL, header or body. */
export interface RequestInFlight {
  /** A method that OpenTelemetry lists, or `_OTHER`. */
  readonly method: string
  /**
   * The template of the route that handles the request now, before `routes.label`; `null` if no route does
   * yet.
   */
  readonly route: string | null
  readonly ageMs: number
  /** In the queue, in its handler, or with the head of its answer sent. */
  readonly state: 'queued' | 'running' | 'answering'
}

/**
 * The figures of all workers of a fleet. Durations in milliseconds, sizes in bytes, ratios from 0 to 1.
 *
 * @see [docs/fleet.md](./docs/fleet.md)
 */
export interface FleetSnapshot {
  /** When the snapshot was taken, in ISO 8601. */
  readonly at: string
  /** The current workers, this one first. */
  readonly workers: readonly WorkerSnapshot[]
  /** Workers that report in an unknown version of the format. No figure includes them. */
  readonly unreadable: number
  /** Workers that have exited. Every `sinceStart` includes their counts. */
  readonly departed: number
  /** All requests together. */
  readonly requests: Snapshot['requests']
  /** Rejected requests since the start. */
  readonly shed: number
  /** One entry per method and route. */
  readonly routes: readonly RouteSnapshot[]
}

export interface WorkerSnapshot {
  /**
   * The label `worker`: the id in the cluster, PM2's instance, `primary` or `main`, with the id of a thread
   * after a dot.
   */
  readonly worker: string
  readonly pid: number
  /** `silent`: the worker did not report in time, and its last report counts. */
  readonly state: 'live' | 'silent'
  /** When the worker wrote the report that counts, in ISO 8601. */
  readonly reportedAt: string
}

export interface SlowRequest {
  /** When the request ended, in ISO 8601. */
  readonly at: string
  readonly method: string
  readonly route: string
  /** `null` if no answer began. */
  readonly status: number | null
  readonly outcome: Outcome
  readonly durationMs: number
  /** The time in the queue of the gate. */
  readonly queueMs: number
  /** The time until the head of the answer was written; `null` if no answer began. */
  readonly firstByteMs: number | null
  /** The longest turn of the event loop while the request was in flight, including its last turn. */
  readonly loopDelayMs: number
  /** Where the time of the request went. `null` with `insight.parts: false`. */
  readonly parts: RequestParts | null
  /**
   * Upper bound of the time that the request waited unread in the socket buffer, while the loop was busy.
   * `durationMs` does not include it. `null` with `insight.parts: false`.
   */
  readonly unreadMs: number | null
  /**
   * How long the request was in the proxy before it arrived. `durationMs` does not include this time. `null`
   * without `proxy.requestStart`.
   */
  readonly proxyMs: number | null
  /** The id that the application (`req.id`) or the client (`x-request-id`) gave the request. */
  readonly requestId: string | number | null
  readonly traceId: string | null
}

/**
 * The parts of the duration of a request, in milliseconds. They sum to the duration.
 *
 * @see [docs/where-time-goes.md](./docs/where-time-goes.md#parts-of-the-time)
 */
export interface RequestParts {
  /** In the queue of the gate. */
  readonly queueMs: number
  /** In its handler, until the handler first returned. */
  readonly runMs: number
  /** After that the loop was busy: with other requests, or with this request's own code after an `await`. */
  readonly loopBusyMs: number
  /** Garbage collections, after the request had left the queue. */
  readonly gcMs: number
  /** The loop was free before the head was written: the request waited for something else. */
  readonly waitMs: number
  /** The loop was free after the head was written: the rest of the answer was made, sent and taken. */
  readonly bodyMs: number
}

/**
 * The requests that pass the gate. No figure includes requests of class `bypass`, or any in mode `off`.
 *
 * @see [docs/admission.md](./docs/admission.md#why-was-a-request-rejected)
 */
export interface AdmissionSnapshot {
  readonly mode: NonNullable<ShedOptions['mode']>
  /** Whether a request was rejected in the last ten seconds. */
  readonly isOverloaded: boolean
  /** Requests that were admitted and have not ended. */
  readonly inFlight: number
  /** Requests in the queue. */
  readonly queued: number
  /**
   * The number of requests that may be in flight; `null` in mode `observe`, and without `shed.maxConcurrent`
   * while the loop sets no limit. A request may be queued all the same, until the loop has proven to be free.
   */
  readonly limit: number | null
  /** The resource that sets `limit`; `null` without a limit. */
  readonly limitedBy: 'loop' | 'concurrency' | null
  /** The measured cost of a request to the event loop. */
  readonly costMs: number
  readonly admitted: number
  /**
   * Requests that ended in the queue: the client reset the connection, or closed the HTTP/2 stream. They
   * never ran.
   */
  readonly abandoned: number
  /** Rejected requests. */
  readonly shed: readonly ShedCount[]
  /** Requests that mode `adaptive` would have rejected, in mode `observe`. */
  readonly wouldShed: readonly ShedCount[]
  /** The last twenty rejections, the newest last. */
  readonly rejected: readonly RejectedRequest[]
  /**
   * Rejections that were sent late because others had used up the share of the loop for rejections. The share
   * is 0.34, and falls to 0.05 while all clients wait for an answer.
   */
  readonly answeredLate: number
  /** Limits that the requests so far suggest; `null` before the first thousand requests. */
  readonly advice: { readonly maxEventLoopDelay: number; readonly maxConcurrent: number } | null
}

export interface RejectedRequest extends ShedCause {
  /** In ISO 8601. */
  readonly at: string
  readonly priority: Priority
}

export interface ShedCount {
  readonly reason: ShedReason
  readonly priority: Priority
  readonly count: number
}

export interface ErrorCount {
  readonly route: string
  /** The status of the answer, 400 to 599. */
  readonly status: number
  /** The class of the error; for a plain `Error` its code, such as `ECONNREFUSED`. */
  readonly type: string
  readonly count: number
  /** When the last of these errors occurred, in ISO 8601. */
  readonly lastAt: string
  /** The method of that request. `null` for an event of a socket, and where the request is not known. */
  readonly method: string | null
  /**
   * The message as in the log: masked, without what a client has sent in a body, 300 characters at most. Like
   * `place`, it is of the first error, and later of the last error that the log has described. `null` for an
   * empty message.
   */
  readonly message: string | null
  /**
   * Where in the application the error was thrown: file, line and column. `null` where the stack has no such
   * place.
   */
  readonly place: string | null
}

/**
 * The event loop, the CPU, the heap and the memory of this process.
 *
 * @see [docs/snapshot.md](./docs/snapshot.md)
 */
export interface RuntimeSnapshot {
  readonly loop: {
    /** How long a loop turn was busy, over the last half minute to minute. */
    readonly delayMs: Readonly<Record<'min' | 'max' | 'mean' | 'stddev' | 'p50' | 'p90' | 'p99', number>>
    /** The busy share of the last half minute to minute. */
    readonly utilization: number
  }
  readonly cpu: {
    /** Over the last half minute to minute; above 1 if more than one core was busy. */
    readonly utilization: number
    /** Since the start of the process. */
    readonly userSeconds: number
    /** Since the start of the process. */
    readonly systemSeconds: number
  }
  readonly heap: {
    readonly usedBytes: number
    readonly totalBytes: number
    /** The size at which V8 ends the process: `--max-old-space-size` if given. */
    readonly limitBytes: number
    /** The heap in use after the last major collection; `null` before the first. */
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
  /** Pauses of garbage collection. */
  readonly collections: Readonly<Record<CollectionKind, { readonly count: number; readonly totalMs: number }>>
}

/**
 * Whether the heap leaks, by its size after major collections. `growing`: it has risen for minutes to a day
 * with a confidence of 0.999. It has risen late as well as early, not mostly in one jump, and to a new
 * maximum. A cache that fills steadily is growing too, until it slows down. `unknown`: too few collections so
 * far.
 */
export interface HeapTrendSnapshot {
  readonly verdict: 'none' | 'growing' | 'unknown'
  /** `null` if `unknown`. The same applies to the next two. */
  readonly megabytesPerHour: number | null
  /** The probability that the rise is not chance, from 0 to 1. */
  readonly confidence: number | null
  readonly windowSeconds: number | null
  /** The time until the heap reaches V8's limit, or the container's; `null` unless `growing`. */
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

// #endregion

// #region metricProducer()

/** Fits the `MetricProducer` of `@opentelemetry/sdk-metrics` 2 and 3. */
export interface MetricProducer {
  collect(): Promise<{
    resourceMetrics: {
      /** Empty, so that a reader keeps the resource of its SDK. */
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

/**
 * Totals since `createSpillway()`, in the shape of the SDK's `MetricData`: 0 is a histogram, 2 a gauge, 3 a
 * sum.
 */
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

// #endregion

// #region Errors

/** Every error that this package throws. `code` is stable, the message is not. */
export class SpillwayError extends Error {
  constructor(code: ErrorCode, message: string)
  readonly code: ErrorCode
}

/**
 * The error that `shed.errorMode: 'next'` passes to your error handler, with the properties that Express and
 * Koa use.
 */
export class OverloadError extends SpillwayError {
  constructor(verdict: ShedVerdict)
  readonly status: 503
  readonly statusCode: 503
  readonly expose: true
  readonly reason: ShedReason
  /** See `ShedCause`. */
  readonly value: number | null
  readonly bound: number | null
  readonly priority: Priority
  readonly retryAfterSeconds: number
  readonly headers: Readonly<Record<string, string>>
}

export type ErrorCode =
  /** The reason of a signal that `signal()` returned. */
  | AbortCode
  /** `signal()` got neither a request nor a response. */
  | 'ERR_SPILLWAY_NOT_A_REQUEST'
  /** A request was rejected: see `OverloadError`. */
  | 'ERR_SPILLWAY_OVERLOADED'
  /** An option other than `shed` cannot be changed at run time. */
  | 'ERR_SPILLWAY_FIXED_OPTION'
  /** A health check of this name exists already. */
  | 'ERR_SPILLWAY_CHECK_TAKEN'
  /** No event has this name. */
  | 'ERR_SPILLWAY_UNKNOWN_EVENT'
  /** An option has an invalid value. */
  | 'ERR_SPILLWAY_OPTION_VALUE'
  /** No option has this name. */
  | 'ERR_SPILLWAY_UNKNOWN_OPTION'
  /** `pool()` got an object that is not a pool of a known kind. */
  | 'ERR_SPILLWAY_UNKNOWN_POOL'
  /** `sockets()` got an object that is not a server of Socket.IO or ws. */
  | 'ERR_SPILLWAY_NOT_SOCKETS'
  /** `sockets()` got a server that it watches already. */
  | 'ERR_SPILLWAY_SOCKETS_TAKEN'
  /** `handler()` was called with an unknown name. */
  | 'ERR_SPILLWAY_UNKNOWN_HANDLER'
  /** The registry contains the metrics of another instance, or a metric of the same name. */
  | 'ERR_SPILLWAY_REGISTRY_TAKEN'
  /** The admin server cannot listen: the port is in use, or the server listens already, or is closed. */
  | 'ERR_SPILLWAY_LISTEN'
  /** The admin server would be reachable from other machines without a token. */
  | 'ERR_SPILLWAY_TOKEN'
  /** A file of this package is missing, because a bundler has left it out. The message names it. */
  | 'ERR_SPILLWAY_MISSING_FILE'
  /** A rolling restart was abandoned, because new workers crashed or were not ready in time. */
  | 'ERR_SPILLWAY_RESTART'
  /**
   * A middleware was used in the wrong framework, or not called, or its factory was called with arguments.
   */
  | 'ERR_SPILLWAY_MISUSE'

// #endregion
