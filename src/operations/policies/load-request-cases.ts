import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { isObject, toList, type Json, type JsonObject } from '../../core/model/json.ts'
import type { Diagnostic } from '../../core/model/problem.ts'
import { createConfigLookup } from '../../core/policy/cases.ts'
import { convertValue } from '../../core/policy/expression.ts'
import type { Case } from '../../core/policy/judge.ts'
import { findRealPath } from '../../files/look.ts'
import { createDiagnostic } from '../../manifest/manifests/finding.ts'
import { loadSource } from '../../manifest/manifests/load-source.ts'
import { readRequestFile } from '../../manifest/requests/request-file.ts'
import type { DeclaredPolicy } from '../../manifest/policies/load-policies.ts'
import { policyShape } from '../../manifest/policies/parse-exceptions.ts'
import type { StateOutside, Policed } from '../runtime/parts.ts'
import { traceRequests } from '../trace.ts'

/**
 * Traces the requests of a policy through the manifests, with the readings of the workspace; what
 * a request does not say is not known. Returns the diagnostic of a file that can't be used, or has
 * a request to another domain.
 */
export async function loadRequestCases(
  workspace: Policed,
  policy: DeclaredPolicy,
  outside: StateOutside,
): Promise<Case[] | Diagnostic> {
  const path = policy.requests ?? ''
  const fail = (detail: string): Diagnostic =>
    createDiagnostic(policy.document, policyShape.createFinding('/requests', detail))
  const source = loadSource(findRealPath(workspace.root), path)
  if ('severity' in source) return fail(`${path}: ${source.detail}`)
  try {
    const requests = readRequestFile(source.text, path).requests.map(({ request }) => request)
    const asked = { requests, visitor: 'unknown', varies: true } as const
    const traced = await traceRequests(workspace, asked, outside)
    const find = createConfigLookup(workspace.desired)
    return traced.map(({ output: { vary = [], assumed = {}, ...output } }, i) => ({
      ...createRequestCase(requests[i] ?? {}, output, find),
      variants: toList(vary)
        .filter(isObject)
        .map(({ reading, changes }) => ({
          reading: String(reading),
          assumed: String(isObject(assumed) ? assumed[String(reading)] : ''),
          create: () =>
            createRequestCase(
              requests[i] ?? {},
              changeAnswers(output, toList(changes).filter(isObject)),
              find,
            ),
        })),
    }))
  } catch (error) {
    if (!(error instanceof EdgewiseError) || error.code !== 'usage') throw error
    return fail(`${path}: ${error.message}`)
  }
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
