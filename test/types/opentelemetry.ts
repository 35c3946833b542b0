// As a user of OpenTelemetry's SDK: a reader takes the producer as it is.

import type { MetricProducer } from '@opentelemetry/sdk-metrics'
import { createSpillway } from 'spillway'

export const producer: MetricProducer = createSpillway().metricProducer()
