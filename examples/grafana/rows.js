'use strict'
// The dashboard as data: rows of panels, each with its description, unit and expressions, and the
// annotations. Expressions sum counters before they divide, and take quantiles of summed buckets, so that
// they describe the whole fleet.

const OF_JOB = 'job=~"$job", instance=~"$instance"'
const OF_ROUTE = `${OF_JOB}, http_route=~"$route"`
const RATE = '[$__rate_interval]'

const rate = (metric, matchers = OF_JOB) => `rate(${metric}{${matchers}}${RATE})`
const quantile = (q, metric, by, matchers) =>
  `histogram_quantile(${q}, sum by (le${by === '' ? '' : `, ${by}`}) (${rate(`${metric}_bucket`, matchers)}))`
const DURATION = 'http_server_request_duration_seconds'
const QUERIES = 'db_client_operation_duration_seconds'
const QUERY = 'db_client_connection_pool_name, db_operation_name, db_collection_name'
const QUERY_LEGEND = '{{db_client_connection_pool_name}}: {{db_operation_name}} {{db_collection_name}}'
/** `timed_out` counts as failed: the client got a 503 from errors.timeout. */
const FAILED = 'outcome=~"errored|timed_out"'
/** A metric with labels has no series before its first event. */
const orNone = (expression) => `(${expression} or vector(0))`
/** If nothing has failed yet, `part` has no series. */
const share = (part, whole) => `(${part} or 0 * ${whole}) / ${whole}`
/** If prom-client's default metrics are collected, the metric has prom-client's name. */
const either = (ours, theirs, of = (metric) => `${metric}{${OF_JOB}}`) => `(${of(ours)} or ${of(theirs)})`
/** Ended requests, not admitted requests: the gate does not count requests of class bypass or in mode off. */
const OFFERED = [
  orNone(`sum(${rate('spillway_requests_total')})`),
  orNone(`sum(${rate('spillway_abandoned_requests_total')})`),
  `sum(${rate('spillway_shed_requests_total')})`,
].join(' + ')
/**
 * Each worker reports its own version. While workers are replaced an instance has two versions: use the later
 * worker's.
 */
const VERSIONS = `max by (job, instance, version) (spillway_build_info{${OF_JOB}} * on (job, instance, worker) group_left () spillway_start_time_seconds{${OF_JOB}})`
const WITH_VERSION = `* on (job, instance) group_left (version) topk by (job, instance) (1, ${VERSIONS}) ^ 0`

const ROWS = [
  {
    title: 'Traffic',
    panels: [
      {
        title: 'Requests by route',
        description: 'Ended requests per second, by route template.',
        unit: 'reqps',
        of: [[`sum by (http_route) (${rate('spillway_requests_total', OF_ROUTE)})`, '{{http_route}}']],
      },
      {
        title: 'Errors by route',
        description:
          'Share of requests that errored (a status of 500 or more, or a response that the server cut off) or timed out.',
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
          'Completed, errored, aborted by the client, upgraded, timed out. A rise in aborted requests is often the first sign of trouble.',
        unit: 'reqps',
        of: [[`sum by (outcome) (${rate('spillway_requests_total', OF_ROUTE)})`, '{{outcome}}']],
      },
      {
        title: 'Duration',
        description:
          'Quantiles over all requests of the selected routes, without streams. The points are exemplars: requests with their trace.',
        unit: 's',
        exemplars: true,
        of: [0.5, 0.95, 0.99].map((q) => [quantile(q, DURATION, '', OF_ROUTE), `p${q * 100}`]),
      },
      {
        title: 'p99 by route',
        description: 'Duration that one request in a hundred exceeds, by route template.',
        unit: 's',
        of: [[quantile(0.99, DURATION, 'http_route', OF_ROUTE), '{{http_route}}']],
      },
      {
        title: 'Durations',
        description: 'Distribution of request durations over time.',
        unit: 's',
        kind: 'heatmap',
        of: [[`sum by (le) (increase(${DURATION}_bucket{${OF_ROUTE}}${RATE}))`, '{{le}}']],
      },
      {
        title: 'Time to first byte',
        description: 'Mean time until the response head was written, by method, over all routes.',
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
          'Mean time of a request of the selected routes, by part. Unread is the longest time it can have waited in the kernel before its duration began.',
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
          'Share of the event loop that the handlers of a route use before they first return, summed over the instances.',
        unit: 'percentunit',
        of: [
          [`sum by (http_route) (${rate('spillway_route_loop_seconds_total', OF_ROUTE)})`, '{{http_route}}'],
        ],
      },
      {
        title: 'In flight',
        decimals: 0,
        description: 'Requests that have arrived and not ended.',
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
        description: 'Bytes received and sent per second over all routes, including heads.',
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
          'Requests that arrived, and requests that completed. The gap between the lines was rejected or failed.',
        unit: 'reqps',
        of: [
          [OFFERED, 'offered'],
          [`sum(${rate('spillway_requests_total', `${OF_JOB}, outcome="completed"`)})`, 'served'],
        ],
      },
      {
        title: 'Rejected by reason',
        description: 'Requests rejected with 503. docs/admission.md explains each reason.',
        unit: 'reqps',
        of: [[`sum by (reason) (${rate('spillway_shed_requests_total')})`, '{{reason}}']],
      },
      {
        title: 'Rejected by class',
        description: 'Requests rejected with 503. The class low is rejected first, critical last.',
        unit: 'reqps',
        of: [[`sum by (priority) (${rate('spillway_shed_requests_total')})`, '{{priority}}']],
      },
      {
        title: 'Time in the queue',
        description: 'Time that admitted requests spent in the queue.',
        unit: 's',
        of: [0.5, 0.99].map((q) => [quantile(q, 'spillway_queue_delay_seconds', '', OF_JOB), `p${q * 100}`]),
      },
      {
        title: 'Queue and limit',
        decimals: 0,
        description: 'Queued requests, and how many requests may run at a time while a limit applies.',
        unit: 'short',
        of: [
          [`sum(spillway_queue_length{${OF_JOB}})`, 'queued'],
          [`sum(spillway_concurrency_limit{${OF_JOB}})`, 'limit'],
        ],
      },
      {
        title: 'Overloaded',
        description: 'Share of the time during which a process rejected requests.',
        unit: 'percentunit',
        of: [[`sum by (instance) (${rate('spillway_overloaded_seconds_total')})`, '{{instance}}']],
      },
      {
        title: 'Overload episodes',
        decimals: 0,
        description:
          'How often a process began to reject requests, after at least ten seconds without a rejection.',
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
          'Problems that the doctor of each process finds now. /doctor on the admin server names the next step.',
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
        description: 'How long loop turns kept the event loop from handling other events.',
        unit: 's',
        of: ['p50', 'p99', 'max'].map((key) => [
          `max by (instance) ${either(`nodejs_eventloop_delay_${key}_seconds`, `nodejs_eventloop_lag_${key}_seconds`)}`,
          `${key} {{instance}}`,
        ]),
      },
      {
        title: 'Stalls',
        description:
          'Share of the time during which stalls (by default 100 ms or longer) blocked the event loop, by cause. The log and the snapshot name the function and the route.',
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
        description:
          'Share of the time during which the event loop was busy. Near 100 % the process cannot absorb a burst.',
        unit: 'percentunit',
        of: [[`nodejs_eventloop_utilization_ratio{${OF_JOB}}`, '{{instance}} {{worker}}']],
      },
      {
        title: 'Heap',
        description: 'Heap in use now, and after the last major collection.',
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
        title: 'Heap use after collection',
        description: 'Heap in use after the last major collection, as a share of the heap limit of V8.',
        unit: 'percentunit',
        of: [
          [
            `spillway_heap_after_gc_bytes{${OF_JOB}} / spillway_heap_limit_bytes{${OF_JOB}}`,
            '{{instance}} {{worker}}',
          ],
        ],
      },
      {
        title: 'Heap growth after collection',
        description:
          'Slope over an hour. A slope above 0 for hours suggests a leak; spillway_heap_growing gives the verdict.',
        unit: 'Bps',
        of: [[`deriv(spillway_heap_after_gc_bytes{${OF_JOB}}[1h])`, '{{instance}} {{worker}}']],
      },
      {
        title: 'Resident memory',
        description: 'Resident memory as a share of the memory limit of the container or the machine.',
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
        description: 'Share of the time spent in garbage collections, by kind.',
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
        description: 'CPU cores in use.',
        unit: 'suffix: cores',
        of: [[`sum by (instance) (${rate('process_cpu_seconds_total')})`, '{{instance}}']],
      },
    ],
  },
  {
    title: 'Pools',
    panels: [
      {
        title: 'Connections',
        description:
          'Connections of each pool that was given to `pool()`: in use, and the most that it opens.',
        unit: 'short',
        of: [
          [
            `sum by (db_client_connection_pool_name) (db_client_connection_count{${OF_JOB}, db_client_connection_state="used"})`,
            '{{db_client_connection_pool_name}} in use',
          ],
          [
            `sum by (db_client_connection_pool_name) (db_client_connection_limit{${OF_JOB}})`,
            '{{db_client_connection_pool_name}} at most',
          ],
        ],
      },
      {
        title: 'Waiting for a connection',
        description: 'Callers that wait for a connection, by pool, and callers that timed out per second.',
        unit: 'short',
        of: [
          [
            `sum by (db_client_connection_pool_name) (db_client_connection_pending_requests{${OF_JOB}})`,
            '{{db_client_connection_pool_name}} waiting',
          ],
          [
            `sum by (db_client_connection_pool_name) (${rate('db_client_connection_timeouts_total')})`,
            '{{db_client_connection_pool_name}} timed out',
          ],
        ],
      },
      {
        title: 'Wait and use of connections',
        description:
          'The p99 of the time that callers wait for a connection, and of the time that they hold it.',
        unit: 's',
        of: [
          [
            quantile(0.99, 'db_client_connection_wait_time_seconds', 'db_client_connection_pool_name'),
            '{{db_client_connection_pool_name}} wait',
          ],
          [
            quantile(0.99, 'db_client_connection_use_time_seconds', 'db_client_connection_pool_name'),
            '{{db_client_connection_pool_name}} use',
          ],
        ],
      },
      {
        title: 'Queries',
        description:
          'Queries per second, by operation and table or collection. Needs `queries: true` of a pool, as the next two panels do.',
        unit: 'ops',
        of: [[`sum by (${QUERY}) (${rate(`${QUERIES}_count`)})`, QUERY_LEGEND]],
      },
      {
        title: 'Duration of queries',
        description:
          'The p99 of the duration of queries. A query that is far slower than the others often lacks an index.',
        unit: 's',
        of: [[quantile(0.99, QUERIES, QUERY), QUERY_LEGEND]],
      },
      {
        title: 'Connections by query',
        stacked: true,
        description:
          'Connections that are busy with each kind of query, on average. The largest is what fills the pool.',
        unit: 'short',
        of: [[`sum by (${QUERY}) (${rate(`${QUERIES}_sum`)})`, QUERY_LEGEND]],
      },
    ],
  },
  {
    title: 'Proxy, limits and pressure',
    panels: [
      {
        title: 'Wait in the proxy',
        description:
          'Time from the timestamp of the proxy until a request arrived. Needs `proxy.requestStart`. A wait above your usual one means that the proxy queues.',
        unit: 's',
        of: [0.5, 0.99].map((q) => [quantile(q, 'spillway_proxy_wait_seconds', '', OF_JOB), `p${q * 100}`]),
      },
      {
        title: 'Too late',
        description:
          'Requests per second that were too old on arrival (age) or in the queue (deadline), and arrivals that came with a deadline.',
        unit: 'reqps',
        of: [
          [
            orNone(
              `sum by (reason) (${rate('spillway_shed_requests_total', `${OF_JOB}, reason=~"age|deadline"`)})`
            ),
            'rejected: {{reason}}',
          ],
          [orNone(`sum(${rate('spillway_requests_with_deadline_total')})`), 'with a deadline'],
        ],
      },
      {
        title: 'Wasted on clients that have left',
        description:
          'Event loops and connections of pools in use, by route, for requests that nobody waits for any more: 1 is all the time of one. Pass `spillway.signal(req)` to what these handlers await.',
        unit: 'short',
        of: [
          [
            orNone(`sum by (http_route, resource) (${rate('spillway_wasted_seconds_total', OF_ROUTE)})`),
            '{{http_route}} {{resource}}',
          ],
        ],
      },
      {
        title: 'Requests behind limits',
        decimals: 0,
        description: 'Requests that run or are queued behind each `limit()`, and the most that may run.',
        unit: 'short',
        of: [
          [`sum by (limit, state) (spillway_limit_requests{${OF_JOB}})`, '{{limit}} {{state}}'],
          [`sum by (limit) (spillway_limit_slots{${OF_JOB}})`, '{{limit}} at most'],
        ],
      },
      {
        title: 'Wait for a limit',
        description: 'The p99 of the time that requests waited for a slot of a limit before they ran.',
        unit: 's',
        of: [[quantile(0.99, 'spillway_limit_wait_seconds', 'limit', OF_JOB), '{{limit}}']],
      },
      {
        title: 'Pressure',
        description:
          'How short each process is of its scarcest resource, from 0 to 1. From 0.75 on `shouldDegrade()` asks for cheaper answers.',
        unit: 'percentunit',
        of: [[`max by (instance) (spillway_pressure_ratio{${OF_JOB}})`, '{{instance}}']],
      },
      {
        title: 'Degraded answers by class',
        description: 'Requests per second for which `shouldDegrade()` said yes.',
        unit: 'reqps',
        of: [[orNone(`sum by (priority) (${rate('spillway_degraded_requests_total')})`), '{{priority}}']],
      },
    ],
  },
  {
    title: 'Deploys',
    panels: [
      {
        title: 'Versions',
        decimals: 0,
        description: 'Number of processes that run each version.',
        unit: 'short',
        of: [[`count by (version, revision) (spillway_build_info{${OF_JOB}})`, '{{version}} {{revision}}']],
      },
      {
        title: 'p99 by version and route',
        description: 'Compare a route before and after a deploy.',
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
        description: 'Share of requests that errored or timed out.',
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
    title: 'Sockets',
    panels: [
      {
        title: 'Connections',
        decimals: 0,
        description: 'Open connections of Socket.IO and ws, by transport, summed over the instances.',
        unit: 'short',
        of: [[`sum by (transport) (spillway_socket_connections{${OF_JOB}})`, '{{transport}}']],
      },
      {
        title: 'Opened, closed and refused',
        description: 'Connections per second: opened, closed by reason, and answered with 503 in overload.',
        unit: 'cps',
        of: [
          [`sum(${rate('spillway_socket_connections_opened_total')})`, 'opened'],
          [`sum by (reason) (${rate('spillway_socket_connections_closed_total')})`, 'closed: {{reason}}'],
          [`sum by (reason) (${rate('spillway_socket_connections_refused_total')})`, 'refused: {{reason}}'],
        ],
      },
      {
        title: 'Messages',
        description: 'Messages per second, by direction.',
        unit: 'mps',
        of: [[`sum by (direction) (${rate('spillway_socket_messages_total')})`, '{{direction}}']],
      },
      {
        title: 'Message bytes',
        description: 'Bytes of messages per second, by direction, without frames and compression.',
        unit: 'Bps',
        of: [[`sum by (direction) (${rate('spillway_socket_message_bytes_total')})`, '{{direction}}']],
      },
      {
        title: 'p99 by event',
        description: 'Time from receipt to the end of the listeners that one message in a hundred exceeds.',
        unit: 's',
        of: [[quantile(0.99, 'spillway_socket_event_duration_seconds', 'event', OF_JOB), '{{event}}']],
      },
      {
        title: 'Acknowledgement p99 by event',
        description: 'Time from receipt to the acknowledgement that one message in a hundred exceeds.',
        unit: 's',
        of: [[quantile(0.99, 'spillway_socket_event_ack_seconds', 'event', OF_JOB), '{{event}}']],
      },
      {
        title: 'Failed events',
        description: 'Share of the messages of an event whose listeners threw, or that were blocked or shed.',
        unit: 'percentunit',
        of: [
          [
            `sum by (event, outcome) (${rate('spillway_socket_events_total', `${OF_JOB}, outcome!="completed"`)}) / on (event) group_left () sum by (event) (${rate('spillway_socket_events_total')})`,
            '{{event}} {{outcome}}',
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
        description: 'An instance with much less traffic than the others may be failing its probes.',
        unit: 'reqps',
        of: [[`sum by (instance) (${rate('spillway_requests_total')})`, '{{instance}}']],
      },
      {
        title: 'p99 by instance',
        description: 'Look for an instance that is much slower than the others.',
        unit: 's',
        of: [[quantile(0.99, DURATION, 'instance', OF_JOB), '{{instance}}']],
      },
      {
        title: 'Uptime',
        description: 'Time since the process started.',
        unit: 's',
        of: [[`time() - spillway_start_time_seconds{${OF_JOB}}`, '{{instance}} {{worker}}']],
      },
      {
        title: 'Uncaught errors',
        decimals: 0,
        description:
          'Uncaught exceptions and rejections, errors caught inside spillway or its callbacks, and data that was not valid HTTP.',
        unit: 'short',
        of: [
          [`sum by (event) (increase(spillway_process_errors_total{${OF_JOB}}${RATE}))`, '{{event}}'],
          [
            orNone(`sum by (place) (increase(spillway_internal_errors_total{${OF_JOB}}${RATE}))`),
            'spillway {{place}}',
          ],
          [
            orNone(`sum by (code) (increase(spillway_client_errors_total{${OF_JOB}}${RATE}))`),
            'invalid HTTP {{code}}',
          ],
        ],
      },
    ],
  },
]

/** Marks over every graph. A deploy is a restart too, so deploys are last: Grafana draws the last on top. */
const ANNOTATIONS = [
  {
    name: 'Restarts',
    expression: `max by (job, instance) (spillway_start_time_seconds{${OF_JOB}}) > max by (job, instance) (last_over_time(spillway_start_time_seconds{${OF_JOB}}[5m] offset $__interval))`,
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

module.exports = {
  ANNOTATIONS,
  DURATION,
  FAILED,
  OF_JOB,
  ROWS,
  VERSIONS,
  orNone,
  quantile,
  rate,
  share,
}
