import { AsyncLocalStorage } from 'node:async_hooks'
import type * as Api from '@opentelemetry/api'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { noSpan, type Span, type SpanAttributes, type Tracer } from '../model/tracing.ts'

/** Where work is in a trace. */
interface Position {
  context: Api.Context
  span: Span
  root: Span
}

/** What is used of the SDK. */
type Sdk = Pick<typeof Api, 'ROOT_CONTEXT' | 'SpanKind' | 'SpanStatusCode' | 'trace'>

/** Workspaces whose secrets are removed: a controller loads one for each commit. */
const maxScrubs = 5
/** Longest text of an attribute. */
const maxText = 1000

/**
 * Creates a tracer over one of the SDK. The position in the trace follows asynchronous work.
 *
 * @param parent of the work that begins no trace of its own; null if that is not traced
 */
export function createTracer(
  { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace }: Sdk,
  tracer: Api.Tracer,
  parent: Api.Context | null,
): Tracer {
  const storage = new AsyncLocalStorage<Position>()
  const scrubs: ((text: string) => string)[] = []
  const clean = (text: string) =>
    scrubs.reduce((cleaned, scrub) => scrub(cleaned), text).slice(0, maxText)
  const cleanAll = (attributes: SpanAttributes) =>
    Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [
        name,
        typeof value === 'string' ? clean(value) : value,
      ]),
    )
  const wrap = (span: Api.Span): Span => {
    let isFailed = false
    return {
      set: (attributes) => void span.setAttributes(cleanAll(attributes)),
      addEvent: (name, attributes) => void span.addEvent(name, cleanAll(attributes)),
      fail: (type) => {
        // What was closest to the failure knows it best.
        if (isFailed) return
        isFailed = true
        span.setAttributes(cleanAll({ 'error.type': type }))
        span.setStatus({ code: SpanStatusCode.ERROR })
      },
    }
  }
  return {
    run: (name, work, { kind, attributes = {} } = {}) => {
      const above = kind === 'root' ? undefined : storage.getStore()
      const context = above?.context ?? (kind === 'root' ? ROOT_CONTEXT : parent)
      if (context === null) return work(noSpan)
      const own = tracer.startSpan(
        name,
        {
          kind: kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL,
          attributes: cleanAll(attributes),
        },
        context,
      )
      const span = wrap(own)
      const fail = (error: unknown) => {
        span.fail(error instanceof EdgewiseError ? error.code : 'defect')
        own.end()
      }
      const position = { context: trace.setSpan(context, own), span, root: above?.root ?? span }
      return storage.run(position, () => {
        try {
          const result = work(span)
          if (result instanceof Promise) result.then(() => own.end(), fail)
          else own.end()
          return result
        } catch (error) {
          fail(error)
          throw error
        }
      })
    },
    current: () => storage.getStore()?.span ?? noSpan,
    root: () => storage.getStore()?.root ?? noSpan,
    addScrub: (scrub) => {
      scrubs.push(scrub)
      if (scrubs.length > maxScrubs) scrubs.shift()
    },
  }
}
