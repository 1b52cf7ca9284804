export { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
export { defaultResource, detectResources, envDetector } from '@opentelemetry/resources'
export { resourceFromAttributes } from '@opentelemetry/resources'
export { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
