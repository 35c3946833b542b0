'use strict'
// Reads Prometheus' protobuf format with protobufjs, from the schema as Prometheus publishes it
// (io/prometheus/client/metrics.proto in prometheus/client_model), less what only gauge histograms have.

const protobuf = require('protobufjs')

const SCHEMA = `
syntax = "proto2";
package io.prometheus.client;
message LabelPair { optional string name = 1; optional string value = 2; }
enum MetricType { COUNTER = 0; GAUGE = 1; SUMMARY = 2; UNTYPED = 3; HISTOGRAM = 4; GAUGE_HISTOGRAM = 5; }
message Timestamp { optional int64 seconds = 1; optional int32 nanos = 2; }
message Gauge { optional double value = 1; }
message Counter { optional double value = 1; optional Exemplar exemplar = 2; optional Timestamp created_timestamp = 3; }
message Quantile { optional double quantile = 1; optional double value = 2; }
message Summary { optional uint64 sample_count = 1; optional double sample_sum = 2; repeated Quantile quantile = 3; }
message Untyped { optional double value = 1; }
message Histogram {
  optional uint64 sample_count = 1;
  optional double sample_sum = 2;
  repeated Bucket bucket = 3;
  optional sint32 schema = 5;
  optional double zero_threshold = 6;
  optional uint64 zero_count = 7;
  repeated BucketSpan negative_span = 9;
  repeated sint64 negative_delta = 10;
  repeated BucketSpan positive_span = 12;
  repeated sint64 positive_delta = 13;
}
message Bucket { optional uint64 cumulative_count = 1; optional double upper_bound = 2; optional Exemplar exemplar = 3; }
message BucketSpan { optional sint32 offset = 1; optional uint32 length = 2; }
message Exemplar { repeated LabelPair label = 1; optional double value = 2; optional Timestamp timestamp = 3; }
message Metric {
  repeated LabelPair label = 1;
  optional Gauge gauge = 2;
  optional Counter counter = 3;
  optional Summary summary = 4;
  optional Untyped untyped = 5;
  optional int64 timestamp_ms = 6;
  optional Histogram histogram = 7;
}
message MetricFamily {
  optional string name = 1;
  optional string help = 2;
  optional MetricType type = 3;
  repeated Metric metric = 4;
  optional string unit = 5;
}`

const MetricFamily = protobuf
  .parse(SCHEMA, { keepCase: true })
  .root.lookupType('io.prometheus.client.MetricFamily')

/** @returns {Map<string, any>} the families by name, labels as an object; fails if one is there twice */
function parseProtobuf(bytes) {
  const families = new Map()
  const reader = protobuf.Reader.create(bytes)
  while (reader.pos < reader.len) {
    const family = MetricFamily.toObject(MetricFamily.decodeDelimited(reader), {
      enums: String,
      longs: Number,
    })
    if (families.has(family.name)) throw new Error(`${family.name} is there twice`)
    for (const metric of family.metric) metric.labels = pairsOf(metric.label)
    families.set(family.name, family)
  }
  return families
}

const pairsOf = (labels = []) => Object.fromEntries(labels.map(({ name, value = '' }) => [name, value]))

module.exports = { pairsOf, parseProtobuf }
