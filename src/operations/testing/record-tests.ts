import { stages } from '../../core/catalog/item-spec.ts'
import type { Policed, StateOutside } from '../runtime/parts.ts'
import { stringify } from 'yaml'
import { addUp, groupBy } from '../../core/model/lists.ts'
import type { Domain } from '../../core/model/item.ts'
import { isObject, type Json, type JsonObject } from '../../core/model/json.ts'
import { addSchemaLine, findSchema } from '../../manifest/yaml/schema-line.ts'
import type { SourceFile } from '../../manifest/yaml/yaml-file.ts'
import { traceRequests, type Traced } from '../trace.ts'

/** A recorded test, as a file that is not written yet. */
export interface RecordedTest extends SourceFile {
  domain: Domain
  requests: number
  /** Number of recorded answers, and of those that are unknown and left out. */
  answers: number
  unknown: number
}

/**
 * Records what the manifests do to requests as tests, one file a domain. Unknown answers are left
 * out.
 *
 * @throws EdgewiseError as `traceRequests` does
 */
export async function recordTests(
  workspace: Policed,
  urls: string[],
  outside: StateOutside,
): Promise<RecordedTest[]> {
  const requests = [...new Set(urls)].map((url) => ({ url }))
  const traced = await traceRequests(workspace, { requests }, outside)
  const schema = findSchema(workspace.root)
  const folder = /^(?:[\w-]+\/)*/.exec(workspace.config.tests[0] ?? '')?.[0] ?? ''
  return [...groupBy(traced, ({ output }) => String(output['domain']))].map(([domain, own]) => {
    const recorded = own.map(recordRequest)
    const test = {
      test: `${domain} as recorded`,
      domains: [domain],
      requests: recorded.map(({ request }) => request),
    }
    const text = stringify(test, { lineWidth: 0 })
    const file = { path: `${folder}${domain.replace(/^\./, '_.')}.yaml`, text }
    const sum = (count: (each: (typeof recorded)[0]) => number) => addUp(recorded, count)
    return {
      ...(schema === null ? file : addSchemaLine(file, schema)),
      domain,
      requests: own.length,
      answers: sum(({ request }) => Object.keys(request.expect).length),
      unknown: sum(({ unknown }) => unknown),
    }
  })
}

/** Records the answers of one trace, without positions of rules, which other edits move. */
function recordRequest({ output }: Traced) {
  const { url = '' } = output['request'] as JsonObject
  const expect: JsonObject = {}
  let unknown = 0
  const collect = (shown: Json | undefined, path: string): void => {
    if (!isObject(shown) || /\.(?:rule|rewrite)$/.test(path)) return
    if ('value' in shown) expect[path] = shown['value'] ?? null
    else if ('unknown' in shown) unknown++
    else for (const [key, part] of Object.entries(shown)) collect(part, `${path}.${key}`)
  }
  for (const stage of ['outcome', ...stages]) collect(output[stage], stage)
  return { request: { url, expect }, unknown }
}
