import type { Json, JsonObject } from '../../../core/model/json.ts'
import type { Diagnostic } from '../../../core/model/problem.ts'
import { EdgewiseError } from '../../../core/model/edgewise-error.ts'
import { test } from '../../../operations/test.ts'
import type { Visitor } from '../../../core/trace/request.ts'
import { traceRequests } from '../../../operations/trace.ts'
import { judgeWorkspace } from '../../../operations/validate.ts'
import { buildDiagnosticsJson } from '../../../outlets/report/diagnostics/json.ts'
import { introduceTrace } from '../../../outlets/report/trace/sentence.ts'
import { buildTestJson } from '../../../outlets/report/tests/json.ts'
import { buildExplainJson } from '../../explain/explain-json.ts'
import type { Call } from '../session.ts'
import { refuseHostileJson } from './observe.ts'
import { declareTool, nameSchema, readingProperties } from './tool.ts'

export const validateTool = declareTool<{ file?: string; severity?: string }>({
  name: 'validate',
  title: 'Check manifests',
  description:
    'Check edgewise.yaml and all manifests, profiles and policies as they are on the disk now. ' +
    'Answers every problem with its file and line. Uses neither the service nor state.',
  properties: {
    file: {
      type: 'string',
      maxLength: 1000,
      description: 'Only problems of this file or folder, relative to the workspace.',
    },
    severity: {
      type: 'string',
      enum: ['error', 'warning', 'note'],
      description: 'Only problems that are at least so serious.',
    },
  },
  run: async (call, { file, severity = 'note' }) => {
    const levels = ['error', 'warning', 'note']
    const diagnostics = (await listProblems(call, file)).filter(
      (each) => levels.indexOf(each.severity) <= levels.indexOf(severity),
    )
    return { answer: buildDiagnosticsJson(diagnostics) }
  },
})

/**
 * Lists the problems that the command does; an invalid workspace file is a regular answer.
 *
 * @throws EdgewiseError `usage` for a file or folder without a manifest, profile or policy
 */
async function listProblems(call: Call, file: string | undefined): Promise<Diagnostic[]> {
  try {
    const { workspace, outside } = call.load()
    const { diagnostics } = await judgeWorkspace(workspace, {}, outside)
    const folder = `${file?.replace(/\/$/, '')}/`
    const isNamed = (path: string) => file === undefined || path === file || path.startsWith(folder)
    const paths = [
      ...workspace.files.map(({ path }) => path),
      ...diagnostics.map((each) => each.file),
    ]
    if (paths.length > 0 && !paths.some(isNamed))
      throw new EdgewiseError('usage', 'no manifest, profile or policy has this path')
    return diagnostics.filter(
      ({ code, severity, file: path }) =>
        isNamed(path) && (code !== 'rule-undecided' || severity !== 'note'),
    )
  } catch (error) {
    if (error instanceof EdgewiseError && error.diagnostics.length > 0) return error.diagnostics
    throw error
  }
}

export const explainTool = declareTool<{ name?: string }>({
  name: 'explain',
  title: 'Explain items',
  description:
    'Explain an item or one of its fields (https, https.http2): type, allowed values, rules, ' +
    'example. "readings" lists what the specification leaves open, "policy" the variables of ' +
    'policies. Without a name: all items.',
  properties: { name: { ...nameSchema, description: 'ITEM, ITEM.FIELD, readings or policy.' } },
  run: (_call, { name }) => Promise.resolve({ answer: buildExplainJson(name) }),
})

interface TraceArguments {
  requests: Json[]
  of?: 'desired' | 'recorded'
  observed?: JsonObject
  visitor?: Visitor
  assume?: JsonObject
}

export const traceTool = declareTool<TraceArguments>({
  name: 'trace',
  title: 'Trace requests',
  description:
    'Show what a configuration does to requests: access, cache, origin, headers, and the rules ' +
    'that decide. Computed from the specification; nothing is called.',
  properties: {
    requests: {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      items: { anyOf: [{ type: 'string', maxLength: 8192 }, { type: 'object' }] },
      description: 'URLs, or objects with url, method, headers, ip, … as in requests of tests.',
    },
    of: {
      type: 'string',
      enum: ['desired', 'recorded'],
      description: 'Configuration of the manifests (default) or of the state.',
    },
    observed: {
      type: 'object',
      description: 'Instead: an observed configuration as content, {domain: {item: payload}}.',
    },
    visitor: {
      type: 'string',
      enum: ['usual', 'unknown'],
      description: 'What holds for facts that a request lacks; usual by default.',
    },
    ...readingProperties,
  },
  required: ['requests'],
  run: async (call, { requests, of = 'desired', observed, visitor = 'usual', assume = {} }) => {
    refuseHostileJson([requests, observed ?? null, assume])
    const { workspace, outside } = of === 'recorded' ? call.connect() : call.load()
    const traced = await traceRequests(
      workspace,
      {
        requests: requests.map((each) => (typeof each === 'string' ? { url: each } : each)),
        of: observed === undefined ? of : { observed },
        visitor,
        assume,
      },
      outside,
    )
    return { answer: traced.map(({ output }) => output), notes: traced.map(introduceTrace) }
  },
})

export const testTool = declareTool<{ run?: string; mutate?: number }>({
  name: 'test',
  title: 'Run tests of manifests',
  description:
    'Run the tests in tests/ against the manifests on the disk. With mutate, also change each ' +
    'rule and value and list what no test fails for. Uses neither the service nor state.',
  properties: {
    run: { ...nameSchema, description: 'Only tests whose name matches this glob.' },
    mutate: {
      type: 'integer',
      minimum: 1,
      maximum: 500,
      description: 'Try at most so many changes.',
    },
  },
  run: async (call, { run, mutate }) => {
    const { workspace, outside } = call.load()
    const mutation = mutate === undefined ? null : { limit: mutate }
    return { answer: buildTestJson(await test(workspace, { run, mutate: mutation }, outside)) }
  },
})
