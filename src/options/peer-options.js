'use strict'
// Option names of other packages, each with a sentence that names the option of this package. Users who migrate write the
// old names first. An entry such as 'shed.maxLag' holds in that group alone.

const bare = (path) => `Did you mean \`${path}\`? `
const ALWAYS_LABELS = 'Method, route and status are always labels. '
const QUANTILES = 'Quantiles are in `snapshot()`; in Prometheus use histogram_quantile. '
const SIGNALS = 'Write `spillway.attach(server, { signals: true })`. '
const CHECKS = 'Write `spillway.health.check(name, check)`. '
const ON_DRAINING = "Write `spillway.on('draining', listener)`, or await `spillway.drain()`. "
const ROUTE_LABEL = `The label is the route's template; for one of your own there is \`routes.label\`. `
const LAG = 'Did you mean `shed.targetDelay`, or `shed.maxEventLoopDelay` for a fixed limit? '
const NO_SIZES = 'Sizes are sums: `spillway_request_bytes_total`, `spillway_response_bytes_total`. '

/** @type {Record<string, Record<string, string>>} by package, so that the list can be checked against it */
const PEERS = {
  'prom-client': {
    buckets: bare('metrics.buckets'),
    labelNames: bare('metrics.labels'),
    labels: bare('metrics.labels'),
    prefix: bare('metrics.prefix'),
    register: bare('registry'),
    registers: bare('registry'),
    collectDefaultMetrics: bare('metrics.defaults'),
    defaultMetrics: bare('metrics.defaults'),
    percentiles: QUANTILES,
    maxAgeSeconds: QUANTILES,
    ageBuckets: QUANTILES,
  },
  'express-prom-bundle': {
    includeMethod: ALWAYS_LABELS,
    includePath: ALWAYS_LABELS,
    includeStatusCode: ALWAYS_LABELS,
    includeUp: 'Prometheus has an `up` of its own. ',
    customLabels: bare('metrics.labels'),
    transformLabels: bare('metrics.labels'),
    normalizePath: ROUTE_LABEL,
    urlValueParser: ROUTE_LABEL,
    urlPathReplacement: ROUTE_LABEL,
    metricsPath: bare('endpoints.metrics'),
    autoregister:
      "Write `endpoints: { metrics: false }`, and mount `spillway.handler('metrics')` where you like. ",
    metricsApp: 'Write `spillway.listen({ port })` for a port of its own. ',
    metricType: 'Durations are histograms with the bounds of `metrics.buckets`. ',
    promRegistry: bare('registry'),
    promClient: bare('metrics.defaults'),
    httpDurationMetricName: 'Metric names are fixed. `metrics.prefix` replaces the prefix `spillway_`. ',
    'metrics.path': bare('endpoints.metrics'),
    bypass: bare('ignore'),
  },
  'prometheus-api-metrics': {
    metricsPrefix: bare('metrics.prefix'),
    durationBuckets: bare('metrics.buckets'),
    requestDurationBuckets: bare('metrics.buckets'),
    requestSizeBuckets: NO_SIZES,
    responseSizeBuckets: NO_SIZES,
    requestLengthBuckets: NO_SIZES,
    responseLengthBuckets: NO_SIZES,
    additionalLabels: bare('metrics.labels'),
    extractAdditionalLabelValuesFn: bare('metrics.labels'),
    includeQueryParams: ROUTE_LABEL,
    excludeRoutes: bare('ignore'),
    authenticate: bare('endpoints.allow'),
  },
  'overload-protection': {
    clientRetrySecs: bare('shed.retryAfter'),
    errorPropagationMode: "Write `shed: { errorMode: 'next' }`. ",
    logging: bare('logger'),
    logStatsOnReq: bare('log.access'),
    production: 'The answer never says why; metrics and the log do. ',
  },
  '@fastify/under-pressure': {
    pressureHandler: bare('shed.respond'),
    message: bare('shed.respond'),
    customError: "Write `shed: { errorMode: 'next' }`, or `shed.respond`. ",
    healthCheck: CHECKS,
    healthCheckInterval: CHECKS,
    exposeStatusRoute: bare('endpoints.live'),
  },
  'toobusy-js': {
    maxLag: LAG,
    'shed.maxLag': LAG,
    lag: LAG,
    checkInterval: bare('shed.sampleInterval'),
  },
  '@godaddy/terminus': {
    signal: SIGNALS,
    signals: SIGNALS,
    timeout: 'Did you mean `errors.timeout` for a request, or `drain.timeout` for the end of the process? ',
    healthChecks: CHECKS,
    onSignal: ON_DRAINING,
    onShutdown: ON_DRAINING,
    beforeShutdown: bare('drain.delay'),
    sendFailuresDuringShutdown: '`/readyz` says 503 from the begin of a drain on. ',
  },
  'http-terminator, http-graceful-shutdown, stoppable, lightship': {
    gracefulTerminationTimeout: bare('drain.timeout'),
    gracefulShutdownTimeout: bare('drain.timeout'),
    grace: bare('drain.timeout'),
    gracefulShutdown: bare('drain'),
    forceExit: SIGNALS,
    preShutdown: ON_DRAINING,
    finally: ON_DRAINING,
    shutdownDelay: bare('drain.delay'),
  },
  'morgan, pino-http, express-timeout': {
    autoLogging: bare('log.access'),
    customProps: bare('log.access.fields'),
    customLogLevel: bare('log.access.level'),
    accessLog: bare('log.access'),
    skip: bare('ignore'),
    'log.access.skip': bare('log.access.ignore'),
    redact: 'Write `logger: { redact: [...] }`; headers are shown only by `log.headers`. ',
    level: 'Write `logger: { level }`. ',
    requestTimeout: bare('errors.timeout'),
  },
  'and others': {
    'shed.enabled': bare('shed.mode'),
    priority: bare('shed.classify'),
    ignorePaths: bare('ignore'),
    concurrency: bare('shed.maxConcurrent'),
    maxConcurrency: bare('shed.maxConcurrent'),
    concurrencyLimit: bare('shed.maxConcurrent'),
    maxMemory: bare('memory.recycleAt'),
    max_memory_restart: bare('memory.recycleAt'),
    livez: bare('endpoints.live'),
    liveness: bare('endpoints.live'),
    health: bare('endpoints.live'),
    healthz: bare('endpoints.live'),
    readyz: bare('endpoints.ready'),
    readiness: bare('endpoints.ready'),
  },
}

const HINTS = new Map(
  Object.values(PEERS).flatMap((names) =>
    Object.entries(names).map(([name, hint]) => [name.toLowerCase(), hint.trimEnd()])
  )
)

/** @returns {string | undefined} the sentence for a name, whatever group it was given in */
const peerHint = (name) => HINTS.get(name.toLowerCase())

/**
 * @param {string} group '' for the top level
 * @returns {string | undefined} the sentence for a name in this very group. It takes precedence over options with a similar
 *   name: the list has no entry that is an option of ours.
 */
const peerHintIn = (group, name) => peerHint(group === '' ? name : `${group}.${name}`)

module.exports = { PEERS, peerHint, peerHintIn }
