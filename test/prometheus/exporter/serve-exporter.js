// Serves the metrics of an instance by OpenTelemetry's exporter for Prometheus, as an application with an SDK does.

const http = require('node:http')
const { PrometheusExporter } = require('@opentelemetry/exporter-prometheus')
const { MeterProvider } = require('@opentelemetry/sdk-metrics')

/** @param {any} spillway @param {(port: number) => void} onListen */
function serveExporter(spillway, onListen) {
  const exporter = new PrometheusExporter({
    preventServerStart: true,
    metricProducers: [spillway.metricProducer()],
  })
  new MeterProvider({ readers: [exporter] })
  const server = http.createServer((req, res) => exporter.getMetricsRequestHandler(req, res))
  server.listen(0, '127.0.0.1', () => onListen(server.address().port))
}

module.exports = { serveExporter }
