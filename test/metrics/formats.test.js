'use strict'
// Which format an `Accept` header gets, by those that scrapers really send.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const fc = require('fast-check')
const { formatFor } = require('../../src/core/metrics/formats/formats')

const TEXT = 'text/plain; version=0.0.4; charset=utf-8'
const OPENMETRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8'
const DRAFT = 'application/openmetrics-text; version=0.0.1; charset=utf-8'
const PROTOBUF =
  'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited'
const protobuf = PROTOBUF.replaceAll(' ', '')

const CASES = [
  ['nothing', undefined, TEXT],
  ['an empty one', '', TEXT],
  ['curl', '*/*', TEXT],
  ['a browser', 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8', TEXT],
  [
    'Prometheus 2.5 to 2.33',
    'application/openmetrics-text; version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
    DRAFT,
  ],
  [
    'Prometheus 2.42',
    'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
    OPENMETRICS,
  ],
  [
    'Prometheus 2.42 with native histograms',
    `${protobuf},application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1`,
    PROTOBUF,
  ],
  [
    'Prometheus 3',
    'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
    OPENMETRICS,
  ],
  [
    'Prometheus 3 with native histograms',
    `${protobuf};q=0.6,application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1`,
    PROTOBUF,
  ],
  ['text rather than OpenMetrics', 'application/openmetrics-text;q=0.4,text/plain;q=0.5', TEXT],
  ['equals, in their order', 'application/openmetrics-text,text/plain', OPENMETRICS],
  ['equals, in the other order', 'text/plain,application/openmetrics-text', TEXT],
  ['OpenMetrics of any version', 'application/openmetrics-text', OPENMETRICS],
  ['a version in quotes and capitals', 'Application/OpenMetrics-Text ; Version = "1.0.0"', OPENMETRICS],
  ['a version in tabs and spaces', 'application/openmetrics-text\t;\tversion\t=  "1.0.0" ', OPENMETRICS],
  ['a version with a second `=`', 'application/openmetrics-text;version=1.0.0=', TEXT],
  ['a version that is none', 'application/openmetrics-text;version', TEXT],
  ['a version that is a quote', 'application/openmetrics-text;version="', TEXT],
  ['a parameter without a name', 'application/openmetrics-text;="1.0.0"', OPENMETRICS],
  ['OpenMetrics 2, which is another format', 'application/openmetrics-text;version=2.0.0,*/*;q=0.1', TEXT],
  ['protobuf of something else', 'application/vnd.google.protobuf;proto=x;encoding=delimited', TEXT],
  ['protobuf as text', protobuf.replace('delimited', 'text'), TEXT],
  ['what it will not take', `${protobuf};q=0,application/openmetrics-text;q=0.0`, TEXT],
  ['a quality that is none', 'application/openmetrics-text;q=high', TEXT],
  ['JSON alone', 'application/json', TEXT],
]

for (const [who, accept, contentType] of CASES) {
  test(`${who} gets ${contentType.split(';', 2)}`, () => {
    assert.equal(formatFor(accept).contentType, contentType)
  })
}

test('any Accept header gets one of the formats', () => {
  const part = fc.oneof(
    fc.string(),
    fc.constantFrom(',', ';', '=', '"', 'q=', '__proto__=1', '*/*', protobuf)
  )
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      assert.ok([TEXT, OPENMETRICS, DRAFT, PROTOBUF].includes(formatFor(parts.join('')).contentType))
    })
  )
})

// A pattern that goes back over what it has read is at one of these for half an hour, and the runner ends it
// sooner.
for (const filler of [' ', '=', '"', ' =', '= "', '" ', ';a ', ', ']) {
  test(`1 MB of ${JSON.stringify(filler)} in a header is read once`, () => {
    const many = filler.repeat(2 ** 20 / filler.length)
    assert.equal(formatFor(`text/plain;a${many}b`).contentType, TEXT)
  })
}
