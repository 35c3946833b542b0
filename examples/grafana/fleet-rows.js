'use strict'
// The dashboard of a fleet over machines as data: one row for each instance, the fullest first, and the curves
// of the columns. Everything comes from Prometheus, so it needs no machine to know of another.

const { DURATION, FAILED, OF_JOB, VERSIONS, orNone, quantile, rate, share } = require('./rows')

const SHED = `sum by (instance) (${rate('spillway_shed_requests_total')})`
const ENDED = `sum by (instance) (${rate('spillway_requests_total')})`
/** The sum also gives a row to an instance that has not ended any request yet. */
const OFFERED = `((${ENDED} or 0 * ${SHED}) + ${SHED})`
const PRESSURE = `max by (instance) (spillway_pressure_ratio{${OF_JOB}})`
const P99 = quantile(0.99, DURATION, 'instance', OF_JOB)
/** Averaged over a quarter of an hour, so that the whole of a short outage is in the figure. */
const UP = `avg by (instance) (avg_over_time(up{${OF_JOB}}[15m]))`
/** `release` names the version of the worker that started last. The value is when that was. */
const RELEASE = ['version', 'spillway_version'].reduce(
  (expression, label) => `label_replace(${expression}, "release", "$1", "${label}", "(.+)")`,
  `topk by (job, instance) (1, ${VERSIONS})`
)

/** The columns, after the instance. `warn` and `bad`: from where on a cell is yellow and red. */
const COLUMNS = [
  { title: 'Pressure', unit: 'percentunit', warn: 0.7, bad: 0.9, of: PRESSURE },
  {
    title: 'Rejected',
    unit: 'percentunit',
    warn: 0.001,
    bad: 0.05,
    of: `${SHED} / (${OFFERED} > 0) or 0 * ${SHED}`,
  },
  { title: 'p99', unit: 's', of: P99 },
  {
    title: 'p99 beside the others',
    unit: 'suffix: x',
    decimals: 1,
    warn: 2,
    bad: 4,
    of: `${P99} / scalar(quantile(0.5, ${P99}))`,
  },
  {
    title: 'Failed',
    unit: 'percentunit',
    warn: 0.001,
    bad: 0.05,
    of: share(`sum by (instance) (${rate('spillway_requests_total', `${OF_JOB}, ${FAILED}`)})`, ENDED),
  },
  { title: 'Requests', unit: 'reqps', of: ENDED },
  {
    title: 'Heap',
    unit: 'percentunit',
    warn: 0.8,
    bad: 0.9,
    of: `max by (instance) (spillway_heap_after_gc_bytes{${OF_JOB}} / spillway_heap_limit_bytes{${OF_JOB}})`,
  },
  {
    title: 'Findings',
    unit: 'short',
    decimals: 0,
    warn: 1,
    of: `sum by (instance) (spillway_findings{${OF_JOB}}) or 0 * ${PRESSURE}`,
  },
  { title: 'Scraped', unit: 'percentunit', of: UP },
  {
    title: 'Started',
    unit: 'dateTimeFromNow',
    label: 'Release',
    of: `1000 * max by (instance, release) (${RELEASE})`,
  },
]

const FLEET_ROWS = [
  {
    title: 'Instances',
    panels: [
      {
        title: 'Instances',
        kind: 'table',
        description:
          'One row for each instance, the fullest first. A click on an instance opens its own dashboard. Pressure is the use of the scarcest resource.',
        columns: COLUMNS,
      },
    ],
  },
  {
    title: 'Over time',
    panels: [
      {
        title: 'Pressure',
        description: 'Use of the scarcest resource of each instance. Autoscalers read it.',
        unit: 'percentunit',
        of: [[PRESSURE, '{{instance}}']],
      },
      {
        title: 'Rejected',
        description: 'Requests rejected with 503, per second.',
        unit: 'reqps',
        of: [[SHED, '{{instance}}']],
      },
      {
        title: 'p99',
        description: 'Duration that one request in a hundred exceeds.',
        unit: 's',
        of: [[P99, '{{instance}}']],
      },
      {
        title: 'Requests',
        description: 'Ended requests per second. The balancer sends an instance with few of them little.',
        unit: 'reqps',
        of: [[ENDED, '{{instance}}']],
      },
      {
        title: 'Instances by release',
        decimals: 0,
        description: 'How many instances run each release. During a deploy there are two.',
        unit: 'short',
        stacked: true,
        of: [[`count by (version) (spillway_build_info{${OF_JOB}})`, '{{version}}']],
      },
      {
        title: 'Fleet',
        decimals: 0,
        description: 'Instances that Prometheus scrapes, and those that rejected requests.',
        unit: 'short',
        of: [
          [`sum(up{${OF_JOB}})`, 'scraped'],
          [orNone(`count(${SHED} > 0)`), 'reject'],
        ],
      },
    ],
  },
]

module.exports = { COLUMNS, FLEET_ROWS }
