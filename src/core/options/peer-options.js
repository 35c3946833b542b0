'use strict'
// Maps option names of other packages to a sentence that names the option of this package, for users who
// migrate. An entry such as 'shed.maxLag' applies only to an option inside of `shed`.

/** @param {string} path */
const didYouMean = (path) => `Did you mean \`${path}\`? `
const ALWAYS_LABELS = 'Method, route and status are always labels. '
const QUANTILES = 'Quantiles are in `snapshot()`; in Prometheus use histogram_quantile. '
const SIGNALS = 'Write `spillway.attach(server, { signals: true })`. '
const CHECKS = 'Write `spillway.health.check(name, check)`. '
const ON_DRAINING = "Write `spillway.on('draining', listener)`; requests are still served then. "
const AFTER_DRAIN =
  "Run this callback's code after `await spillway.drain()`. Before that, requests may need what the code closes. "
const ROUTE_LABEL = `The label is the route's template. To set another label, write \`routes.label\`. `
const LAG = 'Did you mean `shed.targetDelay`, or `shed.maxEventLoopDelay` for a fixed limit? '
const TOKEN = 'Did you mean `endpoints.allow`? The admin server takes `listen({ token })`. '
const ADMIN = 'Write `spillway.listen({ port })` for the admin server. '
const LIMIT =
  "A limit of a route is not an option. Write `spillway.limit({ name: 'report', maxConcurrent: 5 })`. "
const AGENT = 'Write `spillway.agent({ port })` for the agent of HAProxy. '
const FIXED_PROBES = 'The answers of `/livez` and `/readyz` are fixed, and name each check. '
const FIXED_MESSAGES = 'Messages and keys of the access log are fixed; `log.access.fields` adds keys. '
const NO_SIZES =
  'Sizes are counted as totals: `spillway_request_bytes_total`, `spillway_response_bytes_total`. ' +
  '`metrics.bodySizes` adds histograms with fixed bounds. '

/** @type {Record<string, Record<string, string>>} by package, so that each entry can be verified */
const PEERS = {
  'prom-client': {
    buckets: didYouMean('metrics.buckets'),
    labelNames: didYouMean('metrics.labels'),
    labels: didYouMean('metrics.labels'),
    prefix: didYouMean('metrics.prefix'),
    register: didYouMean('registry'),
    registers: didYouMean('registry'),
    collectDefaultMetrics: didYouMean('metrics.defaults'),
    defaultMetrics: didYouMean('metrics.defaults'),
    percentiles: QUANTILES,
    maxAgeSeconds: QUANTILES,
    ageBuckets: QUANTILES,
  },
  'express-prom-bundle': {
    includeMethod: ALWAYS_LABELS,
    includePath: ALWAYS_LABELS,
    includeStatusCode: ALWAYS_LABELS,
    includeUp: 'Prometheus itself makes the metric `up`. ',
    up: 'Prometheus itself makes the metric `up`. ',
    customLabels: didYouMean('metrics.labels'),
    transformLabels: didYouMean('metrics.labels'),
    normalizePath: ROUTE_LABEL,
    urlValueParser: ROUTE_LABEL,
    urlPathReplacement: ROUTE_LABEL,
    metricsPath: didYouMean('endpoints.metrics'),
    autoregister:
      "Write `endpoints: { metrics: false }`, and mount `spillway.handler('metrics')` where you like. ",
    metricsApp: 'Write `spillway.listen({ port })` for a separate port. ',
    metricType: 'Durations are histograms with the bounds of `metrics.buckets`. ',
    promRegistry: didYouMean('registry'),
    promClient: didYouMean('metrics.defaults'),
    formatStatusCode: 'The label has the exact status code, and cannot be formatted. ',
    httpDurationMetricName: 'Metric names are fixed. `metrics.prefix` replaces the prefix `spillway_`. ',
    'metrics.path': didYouMean('endpoints.metrics'),
    bypass: didYouMean('ignore'),
  },
  'prometheus-api-metrics': {
    metricsPrefix: didYouMean('metrics.prefix'),
    durationBuckets: didYouMean('metrics.buckets'),
    requestDurationBuckets: didYouMean('metrics.buckets'),
    requestSizeBuckets: NO_SIZES,
    responseSizeBuckets: NO_SIZES,
    requestLengthBuckets: NO_SIZES,
    responseLengthBuckets: NO_SIZES,
    additionalLabels: didYouMean('metrics.labels'),
    extractAdditionalLabelValuesFn: didYouMean('metrics.labels'),
    includeQueryParams: ROUTE_LABEL,
    excludeRoutes: didYouMean('ignore'),
    authenticate: didYouMean('endpoints.allow'),
  },
  'swagger-stats': {
    swaggerSpec: 'Routes come from the router, so no specification is needed. ',
    apdexThreshold:
      'Spillway has no Apdex. The alert rules in examples/grafana/ use a service level objective. ',
    uriPath: didYouMean('endpoints.metrics'),
    authentication: TOKEN,
    onAuthenticate: TOKEN,
    elasticsearch: didYouMean('log.access'),
    onResponseFinish: didYouMean('log.access.fields'),
  },
  'overload-protection': {
    clientRetrySecs: didYouMean('shed.retryAfter'),
    errorPropagationMode: "Write `shed: { errorMode: 'next' }`. ",
    logging: didYouMean('logger'),
    logStatsOnReq: didYouMean('log.access'),
    production: 'The answer never names the reason; metrics and the log do. ',
  },
  '@fastify/under-pressure': {
    'shed.pressure': didYouMean('shed.shortage'),
    pressureHandler: didYouMean('shed.respond'),
    message: didYouMean('shed.respond'),
    customError: "Write `shed: { errorMode: 'next' }`, or `shed.respond`. ",
    healthCheck: CHECKS,
    healthCheckInterval: CHECKS,
    exposeStatusRoute: didYouMean('endpoints.live'),
  },
  'toobusy-js': {
    maxLag: LAG,
    'shed.maxLag': LAG,
    lag: LAG,
    checkInterval: didYouMean('shed.sampleInterval'),
    interval: didYouMean('shed.sampleInterval'),
  },
  '@godaddy/terminus': {
    signal: SIGNALS,
    signals: SIGNALS,
    timeout: 'Did you mean `errors.timeout` for a request, or `drain.timeout` for the end of the process? ',
    healthChecks: CHECKS,
    onSignal: AFTER_DRAIN,
    onShutdown: AFTER_DRAIN,
    beforeShutdown: didYouMean('drain.delay'),
    sendFailuresDuringShutdown: '`/readyz` returns 503 from the start of a drain on. ',
    onSendFailureDuringShutdown: ON_DRAINING,
    verbatim: FIXED_PROBES,
    statusOkResponse: FIXED_PROBES,
    statusErrorResponse: FIXED_PROBES,
    statusError: FIXED_PROBES,
    useExit0: 'The exit code is 0, or 1 if a request had to be cut. ',
  },
  'http-terminator, http-graceful-shutdown, stoppable, lightship': {
    gracefulTerminationTimeout: didYouMean('drain.timeout'),
    gracefulShutdownTimeout: didYouMean('drain.timeout'),
    grace: didYouMean('drain.timeout'),
    gracefulShutdown: didYouMean('drain'),
    forceExit: SIGNALS,
    preShutdown: ON_DRAINING,
    finally: AFTER_DRAIN,
    shutdownDelay: didYouMean('drain.delay'),
  },
  'morgan, pino-http, express-timeout': {
    autoLogging: didYouMean('log.access'),
    customProps: didYouMean('log.access.fields'),
    customLogLevel: didYouMean('log.access.level'),
    accessLog: didYouMean('log.access'),
    customSuccessMessage: FIXED_MESSAGES,
    customErrorMessage: FIXED_MESSAGES,
    customReceivedMessage: FIXED_MESSAGES,
    customAttributeKeys: FIXED_MESSAGES,
    serializers: FIXED_MESSAGES,
    wrapSerializers: FIXED_MESSAGES,
    quietReqLogger: '`req.log` is not set: make a child of your logger yourself. ',
    genReqId: 'Set `req.id` in a middleware of yours; without it the line has `x-request-id`. ',
    stream: 'Write `logger: pino(stream)`. ',
    immediate: 'A line is written when the request has ended. ',
    skip: didYouMean('log.access.ignore'),
    'log.access.skip': didYouMean('log.access.ignore'),
    redact: 'Write `logger: { redact: [...] }`; headers are shown only by `log.headers`. ',
    level: 'Write `logger: { level }`. ',
    requestTimeout: didYouMean('errors.timeout'),
  },
  'and others': {
    'shed.enabled': didYouMean('shed.mode'),
    observe: "Write `shed: { mode: 'observe' }`. ",
    admin: ADMIN,
    listen: ADMIN,
    limit: LIMIT,
    limits: LIMIT,
    agent: AGENT,
    'balancer.agent': AGENT,
    priority: didYouMean('shed.classify'),
    ignorePaths: didYouMean('ignore'),
    concurrency: didYouMean('shed.maxConcurrent'),
    maxConcurrency: didYouMean('shed.maxConcurrent'),
    concurrencyLimit: didYouMean('shed.maxConcurrent'),
    maxMemory: didYouMean('memory.recycleAt'),
    max_memory_restart: didYouMean('memory.recycleAt'),
    slowMs: didYouMean('log.slowAfter'),
    'log.slowMs': didYouMean('log.slowAfter'),
    slowRequestThreshold: didYouMean('log.slowAfter'),
    livez: didYouMean('endpoints.live'),
    liveness: didYouMean('endpoints.live'),
    health: didYouMean('endpoints.live'),
    healthz: didYouMean('endpoints.live'),
    readyz: didYouMean('endpoints.ready'),
    readiness: didYouMean('endpoints.ready'),
  },
}

const HINTS = new Map(
  Object.values(PEERS).flatMap((names) =>
    Object.entries(names).map(([name, hint]) => [name.toLowerCase(), hint.trimEnd()])
  )
)

/** @param {string} name @returns {string | undefined} the sentence for a name, spelt as in the table */
const peerHint = (name) => HINTS.get(name.toLowerCase())

/**
 * @param {string} group '' for the top level
 * @param {string} name
 * @returns {string | undefined} the sentence for a name in exactly this group
 */
const peerHintIn = (group, name) => peerHint(group === '' ? name : `${group}.${name}`)

module.exports = { PEERS, peerHint, peerHintIn }
