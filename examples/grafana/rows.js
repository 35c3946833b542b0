'use strict'
// What the dashboard shows, as data: rows of panels, each with what it means, its unit and its expressions. Counters are
// summed before anything is divided, and a quantile is taken of summed buckets, so that it is that of the whole fleet.

const OF_JOB = 'job=~"$job", instance=~"$instance"'
const OF_ROUTE = `${OF_JOB}, http_route=~"$route"`
const RATE = '[$__rate_interval]'

const rate = (metric, matchers = OF_JOB) => `rate(${metric}{${matchers}}${RATE})`
const quantile = (q, metric, by, matchers) =>
  `histogram_quantile(${q}, sum by (le${by === '' ? '' : `, ${by}`}) (${rate(`${metric}_bucket`, matchers)}))`
const DURATION = 'http_server_request_duration_seconds'
/** A request that was answered in the stead of its handler got a 5xx too. */
const FAILED = 'outcome=~"errored|timed_out"'
/** A counter nobody has counted yet has no series. */
const orNone = (expression) => `(${expression} or vector(0))`
/** Of what has never failed there is no series. */
const share = (part, whole) => `(${part} or 0 * ${whole}) / ${whole}`
/** Where prom-client's default metrics are collected, they are under their names. */
const either = (ours, theirs, of = (metric) => `${metric}{${OF_JOB}}`) => `(${of(ours)} or ${of(theirs)})`
/** What ended has those in it whom the gate lets by uncounted, of class bypass or in mode off. */
const OFFERED = [
  orNone(`sum(${rate('spillway_requests_total')})`),
  orNone(`sum(${rate('spillway_abandoned_requests_total')})`),
  `sum(${rate('spillway_shed_requests_total')})`,
].join(' + ')
/** In a fleet each worker tells its own. While they are replaced there are two versions to one instance: it is the later's. */
const VERSIONS = `max by (job, instance, version) (spillway_build_info{${OF_JOB}} * on (job, instance, worker) group_left () spillway_start_time_seconds{${OF_JOB}})`
const WITH_VERSION = `* on (job, instance) group_left (version) topk by (job, instance) (1, ${VERSIONS}) ^ 0`

const ROWS = [
  {
    title: 'Traffic',
    panels: [
      {
        title: 'Requests by route',
        description: 'Requests that ended, a second, by route template.',
        unit: 'reqps',
        of: [[`sum by (http_route) (${rate('spillway_requests_total', OF_ROUTE)})`, '{{http_route}}']],
      },
      {
        title: 'Errors by route',
        description:
          'Share of requests that ended errored (a status of 500 or more, or an answer the server cut off) or timed out.',
        unit: 'percentunit',
        of: [
          [
            share(
              `sum by (http_route) (${rate('spillway_requests_total', `${OF_ROUTE}, ${FAILED}`)})`,
              `sum by (http_route) (${rate('spillway_requests_total', OF_ROUTE)})`
            ),
            '{{http_route}}',
          ],
        ],
      },
      {
        title: 'How requests ended',
        description:
          'Completed, errored, aborted by the client, upgraded, timed out. Aborted ones are the first sign of trouble.',
        unit: 'reqps',
        of: [[`sum by (outcome) (${rate('spillway_requests_total', OF_ROUTE)})`, '{{outcome}}']],
      },
      {
        title: 'Duration',
        description:
          'Quantiles of all requests of the routes chosen, streams apart; points are requests with their trace.',
        unit: 's',
        exemplars: true,
        of: [0.5, 0.95, 0.99].map((q) => [quantile(q, DURATION, '', OF_ROUTE), `p${q * 100}`]),
      },
      {
        title: 'p99 by route',
        description: 'The duration that one request in a hundred exceeds, by route template.',
        unit: 's',
        of: [[quantile(0.99, DURATION, 'http_route', OF_ROUTE), '{{http_route}}']],
      },
      {
        title: 'Durations',
        description: 'How many requests took how long.',
        unit: 's',
        kind: 'heatmap',
        of: [[`sum by (le) (increase(${DURATION}_bucket{${OF_ROUTE}}${RATE}))`, '{{le}}']],
      },
      {
        title: 'Time to first byte',
        description: 'Mean time until the head of the answer was written, by method, over all routes.',
        unit: 's',
        of: [
          [
            `sum by (http_request_method) (${rate('spillway_response_first_byte_seconds_sum')}) / sum by (http_request_method) (${rate('spillway_response_first_byte_seconds_count')})`,
            '{{http_request_method}}',
          ],
        ],
      },
      {
        title: 'Where the time went',
        stacked: true,
        description:
          'Mean time of a request of the routes chosen, by part. Unread is the time in the kernel before its duration began, at most.',
        unit: 's',
        of: [
          [
            `sum by (part) (${rate('spillway_request_part_seconds_total', OF_ROUTE)}) / scalar(sum(${rate(`${DURATION}_count`, OF_ROUTE)}))`,
            '{{part}}',
          ],
        ],
      },
      {
        title: 'Loop time by route',
        stacked: true,
        description:
          'Share of the event loop that handlers of a route take before they first return, summed over the instances.',
        unit: 'percentunit',
        of: [
          [`sum by (http_route) (${rate('spillway_route_loop_seconds_total', OF_ROUTE)})`, '{{http_route}}'],
        ],
      },
      {
        title: 'In flight',
        decimals: 0,
        description: 'Requests that have begun and not ended.',
        unit: 'short',
        of: [
          [
            `sum by (http_request_method) (http_server_active_requests{${OF_JOB}})`,
            '{{http_request_method}}',
          ],
        ],
      },
      {
        title: 'Bytes',
        description: 'Bytes received and sent over all routes, heads included.',
        unit: 'Bps',
        of: [
          [`sum(${rate('spillway_request_bytes_total')})`, 'received'],
          [`sum(${rate('spillway_response_bytes_total')})`, 'sent'],
        ],
      },
    ],
  },
  {
    title: 'Overload',
    panels: [
      {
        title: 'Offered and served',
        description:
          'What came, and what ended completed. What is between the lines was turned away, or failed.',
        unit: 'reqps',
        of: [
          [OFFERED, 'offered'],
          [`sum(${rate('spillway_requests_total', `${OF_JOB}, outcome="completed"`)})`, 'served'],
        ],
      },
      {
        title: 'Turned away, by reason',
        description: 'Requests answered with 503. docs/admission.md explains each reason.',
        unit: 'reqps',
        of: [[`sum by (reason) (${rate('spillway_shed_requests_total')})`, '{{reason}}']],
      },
      {
        title: 'Turned away, by class',
        description: 'Low goes first, critical last.',
        unit: 'reqps',
        of: [[`sum by (priority) (${rate('spillway_shed_requests_total')})`, '{{priority}}']],
      },
      {
        title: 'Wait in the queue',
        description: 'How long requests that were let in had waited for their turn.',
        unit: 's',
        of: [0.5, 0.99].map((q) => [quantile(q, 'spillway_queue_delay_seconds', '', OF_JOB), `p${q * 100}`]),
      },
      {
        title: 'Queue and limit',
        decimals: 0,
        description: 'Requests that wait, and how many may run at a time while a limit is in force.',
        unit: 'short',
        of: [
          [`sum(spillway_queue_length{${OF_JOB}})`, 'waiting'],
          [`sum(spillway_concurrency_limit{${OF_JOB}})`, 'limit'],
        ],
      },
      {
        title: 'Overloaded',
        description: 'Share of the time in which a process turned requests away.',
        unit: 'percentunit',
        of: [[`sum by (instance) (${rate('spillway_overloaded_seconds_total')})`, '{{instance}}']],
      },
      {
        title: 'Episodes of overload',
        decimals: 0,
        description: 'How often a process began to turn requests away, after a second or more without.',
        unit: 'short',
        of: [[`sum by (instance) (increase(spillway_overloads_total{${OF_JOB}}${RATE}))`, '{{instance}}']],
      },
    ],
  },
  {
    title: 'Runtime',
    panels: [
      {
        title: 'Findings',
        decimals: 0,
        description:
          'What the doctor of each process finds now. /doctor on its admin server says what to do.',
        unit: 'short',
        of: [
          [
            orNone(`sum by (instance, problem, severity) (spillway_findings{${OF_JOB}})`),
            '{{severity}} {{problem}} {{instance}}',
          ],
        ],
      },
      {
        title: 'Event-loop delay',
        description: 'How long a turn of the loop kept it from its events.',
        unit: 's',
        of: ['p50', 'p99', 'max'].map((key) => [
          `max by (instance) ${either(`nodejs_eventloop_delay_${key}_seconds`, `nodejs_eventloop_lag_${key}_seconds`)}`,
          `${key} {{instance}}`,
        ]),
      },
      {
        title: 'Stalls',
        description:
          'Share of the time in which the loop was blocked for 100 ms or longer at a time, by cause. The log and the snapshot name function and route.',
        unit: 'percentunit',
        of: [
          [
            `sum by (instance, cause) (${rate('spillway_stall_seconds_total')}) > 0`,
            '{{instance}} {{cause}}',
          ],
        ],
      },
      {
        title: 'Event-loop utilization',
        description: 'Share of the time the loop was busy. Near 1 there is no room for a burst.',
        unit: 'percentunit',
        of: [[`nodejs_eventloop_utilization_ratio{${OF_JOB}}`, '{{instance}} {{worker}}']],
      },
      {
        title: 'Heap',
        description: 'In use, and in use after the last major collection.',
        unit: 'bytes',
        of: [
          [
            `sum by (instance) ${either('v8js_memory_heap_used_bytes', 'nodejs_heap_space_size_used_bytes')}`,
            'used {{instance}}',
          ],
          [`spillway_heap_after_gc_bytes{${OF_JOB}}`, 'after collection {{instance}} {{worker}}'],
        ],
      },
      {
        title: 'Heap against its limit',
        description:
          'In use after the last major collection, as a share of what V8 may use before it gives up.',
        unit: 'percentunit',
        of: [
          [
            `spillway_heap_after_gc_bytes{${OF_JOB}} / spillway_heap_limit_bytes{${OF_JOB}}`,
            '{{instance}} {{worker}}',
          ],
        ],
      },
      {
        title: 'Growth of the heap after collection',
        description:
          'Slope over an hour. What stays above 0 for hours is a leak; spillway_heap_growing gives the verdict.',
        unit: 'Bps',
        of: [[`deriv(spillway_heap_after_gc_bytes{${OF_JOB}}[1h])`, '{{instance}} {{worker}}']],
      },
      {
        title: 'Resident memory',
        description: 'Against the limit of the container, or the machine.',
        unit: 'percentunit',
        of: [
          [
            `process_resident_memory_bytes{${OF_JOB}} / on (job, instance) group_left () spillway_memory_limit_bytes{${OF_JOB}}`,
            '{{instance}} {{worker}}',
          ],
        ],
      },
      {
        title: 'Garbage collection',
        description: 'Share of the time spent in collections, by kind.',
        unit: 'percentunit',
        of: [
          [
            `sum by (v8js_gc_type, kind) ${either('v8js_gc_duration_seconds_sum', 'nodejs_gc_duration_seconds_sum', (metric) => rate(metric))}`,
            '{{v8js_gc_type}}{{kind}}',
          ],
        ],
      },
      {
        title: 'CPU',
        description: 'Cores in use.',
        unit: 'suffix: cores',
        of: [[`sum by (instance) (${rate('process_cpu_seconds_total')})`, '{{instance}}']],
      },
    ],
  },
  {
    title: 'Deploys',
    panels: [
      {
        title: 'Versions',
        decimals: 0,
        description: 'How many processes run which version.',
        unit: 'short',
        of: [[`count by (version, revision) (spillway_build_info{${OF_JOB}})`, '{{version}} {{revision}}']],
      },
      {
        title: 'p99 by version and route',
        description: 'The same route before and after.',
        unit: 's',
        of: [
          [
            `histogram_quantile(0.99, sum by (le, http_route, version) (${rate(`${DURATION}_bucket`, OF_ROUTE)} ${WITH_VERSION}))`,
            '{{version}} {{http_route}}',
          ],
        ],
      },
      {
        title: 'Errors by version',
        description: 'Share of requests that ended errored or timed out.',
        unit: 'percentunit',
        of: [
          [
            share(
              `sum by (version) (${rate('spillway_requests_total', `${OF_ROUTE}, ${FAILED}`)} ${WITH_VERSION})`,
              `sum by (version) (${rate('spillway_requests_total', OF_ROUTE)} ${WITH_VERSION})`
            ),
            '{{version}}',
          ],
        ],
      },
    ],
  },
  {
    title: 'Fleet',
    panels: [
      {
        title: 'Requests by instance',
        description: 'One that gets much less than the others may be failing its probes.',
        unit: 'reqps',
        of: [[`sum by (instance) (${rate('spillway_requests_total')})`, '{{instance}}']],
      },
      {
        title: 'p99 by instance',
        description: 'One that is much slower than the others is ill.',
        unit: 's',
        of: [[quantile(0.99, DURATION, 'instance', OF_JOB), '{{instance}}']],
      },
      {
        title: 'Uptime',
        description: 'Time since the process began.',
        unit: 's',
        of: [[`time() - process_start_time_seconds{${OF_JOB}}`, '{{instance}} {{worker}}']],
      },
      {
        title: 'Errors nobody caught',
        decimals: 0,
        description: 'Exceptions and rejections, failures inside spillway, and what was no HTTP.',
        unit: 'short',
        of: [
          [`sum by (event) (increase(spillway_process_errors_total{${OF_JOB}}${RATE}))`, '{{event}}'],
          [
            orNone(`sum by (place) (increase(spillway_internal_errors_total{${OF_JOB}}${RATE}))`),
            'in spillway {{place}}',
          ],
          [
            orNone(`sum by (code) (increase(spillway_client_errors_total{${OF_JOB}}${RATE}))`),
            'no HTTP {{code}}',
          ],
        ],
      },
    ],
  },
]

/** Marks over every graph. A deploy is a restart too: the last is drawn on top. */
const ANNOTATIONS = [
  {
    name: 'Restarts',
    expression: `max by (job, instance) (process_start_time_seconds{${OF_JOB}}) > max by (job, instance) (last_over_time(process_start_time_seconds{${OF_JOB}}[5m] offset $__interval))`,
    title: 'restart of {{instance}}',
    color: 'orange',
  },
  {
    name: 'Deploys',
    expression: `count by (version) (spillway_build_info{${OF_JOB}}) unless count by (version) (last_over_time(spillway_build_info{${OF_JOB}}[5m] offset $__interval))`,
    title: 'version {{version}}',
    color: 'blue',
  },
]

module.exports = { ANNOTATIONS, ROWS }
