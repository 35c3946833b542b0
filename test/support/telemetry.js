'use strict'
// OpenTelemetry's SDK with its instrumentation of http, Express and Koa, in memory, for one test file: to be
// required before they are.

const { metrics } = require('@opentelemetry/api')
const { ExpressInstrumentation } = require('@opentelemetry/instrumentation-express')
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http')
const { KoaInstrumentation } = require('@opentelemetry/instrumentation-koa')
const { MeterProvider, MetricReader } = require('@opentelemetry/sdk-metrics')
const {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} = require('@opentelemetry/sdk-trace-node')

const SERVER = 1

class Reader extends MetricReader {
  async onForceFlush() {}
  async onShutdown() {}
}

/** Registered as an application does it; once a process, for what is patched stays so. */
function startInstrumentation() {
  const exporter = new InMemorySpanExporter()
  const tracerProvider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  tracerProvider.register()
  const reader = new Reader()
  const meterProvider = new MeterProvider({ readers: [reader] })
  const all = [new HttpInstrumentation(), new ExpressInstrumentation(), new KoaInstrumentation()]
  for (const each of all) {
    each.setTracerProvider(tracerProvider)
    each.setMeterProvider(meterProvider)
  }
  return {
    reader,
    /** The server's spans that have ended, once there are so many. */
    async serverSpans(count) {
      for (;;) {
        const spans = exporter.getFinishedSpans().filter(({ kind }) => kind === SERVER)
        if (spans.length >= count) {
          exporter.reset()
          return spans
        }
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
  }
}

/**
 * An SDK for metrics alone, for the time of one test.
 *
 * @param {import('node:test').TestContext} t
 * @param {{ metricProducers?: any[], views?: any[] }} [options]
 */
function startMetrics(t, { metricProducers, views } = {}) {
  const reader = new Reader({ metricProducers })
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader], views }))
  t.after(() => metrics.disable())
  return reader
}

/** What a reader collects, by scope and name. */
async function collected(reader, scope = /^spillway$/) {
  const { resourceMetrics, errors } = await reader.collect()
  if (errors.length > 0) throw errors[0]
  const of = resourceMetrics.scopeMetrics.filter((each) => scope.test(each.scope.name))
  return of.flatMap(({ metrics: each }) => each)
}

module.exports = { collected, startInstrumentation, startMetrics }
