import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { isObject, toList, type Json, type JsonObject } from '../../core/model/json.ts'
import { createConfigLookup } from '../../core/policy/cases.ts'
import { convertValue } from '../../core/policy/expression.ts'
import type { Case } from '../../core/policy/judge.ts'
import { findRealPath } from '../../files/look.ts'
import { loadSource } from '../../manifest/manifests/load-source.ts'
import { readRequestFile } from '../../manifest/requests/request-file.ts'
import type { StateOutside, Policed } from '../runtime/parts.ts'
import { traceRequests } from '../trace.ts'

/**
 * Traces the requests of a file of policies through the manifests, with the readings of the
 * workspace; what a request does not say is not known. Returns what is wrong with a file that can't
 * be used, or has a request to another domain.
 */
export async function loadRequestCases(
  workspace: Policed,
  path: string,
  outside: StateOutside,
): Promise<Case[] | string> {
  const source = loadSource(findRealPath(workspace.root), path)
  if ('severity' in source) return `${path}: ${source.detail}`
  try {
    const requests = readRequestFile(source.text, path).requests.map(({ request }) => request)
    const asked = { requests, visitor: 'unknown', varies: true } as const
    const traced = await traceRequests(workspace, asked, outside)
    const find = createConfigLookup(workspace.desired)
    return traced.map(({ output: { vary, assumed = {}, ...output } }, i) => {
      const request = requests[i] ?? {}
      const variants = toList(vary)
        .filter(isObject)
        .map(({ reading, changes }) => {
          const changed = toList(changes).filter(isObject)
          return {
            reading: String(reading),
            assumed: String(isObject(assumed) ? assumed[String(reading)] : ''),
            stages: new Set(changed.map(({ field }) => findStage(String(field)))),
            create: () => createRequestCase(request, changeAnswers(output, changed), find),
          }
        })
      return { ...createRequestCase(request, output, find), variants }
    })
  } catch (error) {
    if (!(error instanceof EdgewiseError) || error.code !== 'usage') throw error
    return `${path}: ${error.message}`
  }
}

/** The key of a trace under which an answer stands. */
function findStage(field: string): string {
  const [stage = ''] = field.split('.')
  return stage === 'checks' ? 'access' : stage
}

/** Changes answers of a trace: `{field, after}`. */
function changeAnswers(output: JsonObject, changes: readonly JsonObject[]): JsonObject {
  const changed = structuredClone(output)
  for (const { field, after = null } of changes) {
    const [stage = '', name = '', ...others] = String(field).split('.')
    const { access } = changed
    const part = changed[stage]
    if (stage === 'checks')
      for (const check of toList(isObject(access) ? access['checks'] : []).filter(isObject)) {
        if (check['item'] === name) check['result'] = after
      }
    else if (name === '') changed[stage] = after
    else if (isObject(part) && others.length === 0) part[name] = after
    else if (isObject(part) && isObject(part[name])) part[name][others.join('.')] = after
  }
  return changed
}

/** Creates the case of a traced request. */
export function createRequestCase(
  request: JsonObject,
  output: JsonObject,
  find: ReturnType<typeof createConfigLookup>,
): Case {
  const unknown = new Map<string, string[]>()
  const trace = simplify(output, 'trace', unknown)
  const domain = String(output['domain'])
  return {
    domain,
    item: null,
    keys: {},
    unknown,
    values: {
      domain: { name: domain },
      config: find(domain).value,
      request: convertValue(request),
      trace: convertValue(trace ?? null),
    },
  }
}

/**
 * Replaces answers by their values. One that is not known is left out, so that no expression has an
 * answer that reads it.
 *
 * @param unknown gets the reasons why an answer is not known, by its path
 */
function simplify(value: Json, path: string, unknown: Map<string, string[]>): Json | undefined {
  if (Array.isArray(value)) return value.map((each) => simplify(each, path, unknown) ?? null)
  if (!isObject(value)) return value
  if (Array.isArray(value['unknown'])) {
    unknown.set(path, value['unknown'].map(String))
    return undefined
  }
  if (Object.keys(value).join(' ') === 'value') return value['value'] ?? null
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => {
      const simple = simplify(each, `${path}.${key}`, unknown)
      return simple === undefined ? [] : [[key, simple] as const]
    }),
  )
}
