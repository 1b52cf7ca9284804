import { isObject, type JsonObject } from '../../core/model/json.ts'
import { append } from '../../core/model/lists.ts'
import type { Diagnostic, Place } from '../../core/model/problem.ts'
import { compileExpression, type ExpressionFault } from '../../core/policy/expression.ts'
import { compileMessage } from '../../core/policy/message.ts'
import type { Policy } from '../../core/policy/policy.ts'
import type { Level, Subject } from '../../core/policy/subject.ts'
import { createDiagnostic, type Finding } from '../manifests/finding.ts'
import { loadSource } from '../manifests/load-source.ts'
import { checkShape } from '../workspace-file/workspace-shape.ts'
import { parseYaml, type YamlDocument } from '../yaml/yaml-file.ts'
import { findPlace } from '../yaml/yaml-place.ts'
import { parseExceptions, policyShape, type DeclaredException } from './parse-exceptions.ts'

/** A policy, and the document that declares it. */
export interface DeclaredPolicy extends Policy {
  document: YamlDocument
}

/** What the files of policies declare, and their problems. */
export interface LoadedPolicies {
  policies: DeclaredPolicy[]
  exceptions: DeclaredException[]
  diagnostics: Diagnostic[]
}

/** Maximum number of policies of a workspace. */
const maxPolicies = 1000

/**
 * Loads the policies of a workspace, and the exceptions beside them.
 *
 * @param root a real path
 * @param paths of the files, relative to it
 * @param lost text of policies that count beside those of the same names
 */
export function loadPolicies(root: string, paths: readonly string[], lost = ''): LoadedPolicies {
  const loaded: LoadedPolicies = { policies: [], exceptions: [], diagnostics: [] }
  const names = new Map<string, DeclaredPolicy>()
  const earlier = { path: 'what was applied last', text: lost }
  for (const file of [...paths.map((path) => loadSource(root, path)), earlier]) {
    if ('severity' in file) {
      loaded.diagnostics.push(file)
      continue
    }
    const { documents, diagnostics } = parseYaml(file)
    append(loaded.diagnostics, diagnostics)
    for (const document of documents) {
      const { policy, exceptions, problems } = parsePolicyDocument(document)
      append(loaded.exceptions, exceptions)
      // Another version of the program may have allowed more.
      append(loaded.diagnostics, file === earlier ? [] : problems)
      if (policy === null) continue
      const first = names.get(policy.name)
      if (file === earlier || (first === undefined && names.size < maxPolicies)) {
        names.set(policy.name, policy)
        loaded.policies.push(policy)
      } else loaded.diagnostics.push(refusePolicy(policy, first))
    }
  }
  return loaded
}

function refusePolicy(
  policy: Pick<DeclaredPolicy, 'name' | 'document'>,
  first: Pick<DeclaredPolicy, 'document'> | undefined,
): Diagnostic {
  const detail =
    first === undefined
      ? `expected at most ${maxPolicies} policies. Remove some.`
      : `the policy "${policy.name}" is already declared in ${first.document.file.path}. ` +
        'Rename one of the two.'
  const place = first && findPlace(first.document, '/policy')
  return {
    ...createDiagnostic(policy.document, policyShape.createFinding('/policy', detail)),
    ...(place === undefined ? {} : { related: [{ ...place, message: 'first declared here' }] }),
  }
}

interface ParsedPolicyDocument {
  policy: DeclaredPolicy | null
  exceptions: DeclaredException[]
  problems: Diagnostic[]
}

function parsePolicyDocument(document: YamlDocument): ParsedPolicyDocument {
  const { value } = document
  const fail = (findings: Finding[]): ParsedPolicyDocument => ({
    policy: null,
    exceptions: [],
    problems: findings.map((finding) => createDiagnostic(document, finding)),
  })
  if (!isObject(value))
    return fail([policyShape.createFinding('', 'expected a mapping that begins with "policy"')])
  const missing = findMissing(value)
  // The schema says of the whole document what is missing, in other words.
  const shape = checkShape(value, value, policyShape).filter(
    ({ pointer, part }) => missing.length === 0 || pointer !== '' || part === 'key',
  )
  const findings = [...missing, ...shape]
  if (findings.length > 0) return fail(findings)
  const { exceptions, findings: excepted } = parseExceptions(value['except'], null, document)
  if (excepted.length > 0) return fail(excepted)
  if (value['policy'] === undefined) return { policy: null, exceptions, problems: [] }
  const [name, level] = [String(value['policy']), value['level'] as Level]
  const [on, message] = [value['on'] as Subject, String(value['message'])]
  const when = 'when' in value ? compileExpression(String(value['when']), on, 'bool') : null
  const deny = compileExpression(String(value['deny']), on, 'bool')
  const text = compileMessage(message, on)
  const problems = [
    ...(when === null || !('fault' in when) ? [] : [createFault(document, 'when', when)]),
    ...('fault' in deny ? [createFault(document, 'deny', deny)] : []),
    ...('fault' in text ? [createFault(document, 'message', text)] : []),
  ]
  if ((when !== null && 'fault' in when) || 'fault' in deny || 'fault' in text)
    return { policy: null, exceptions, problems }
  const requests = (value['requests'] as string | undefined) ?? null
  const policy = { name, level, on, when, deny, message: text, requests, document }
  return { policy, exceptions, problems }
}

/**
 * Finds the keys that a policy lacks, and requests of one on something else: a document without any
 * other key may have exceptions only.
 */
function findMissing(value: JsonObject): Finding[] {
  if (Object.keys(value).every((key) => key === 'except')) return []
  const isOfRequests = value['on'] === 'request'
  if ('requests' in value && !isOfRequests)
    return [policyShape.createFinding('/requests', 'it is only for "on: request". Remove it.')]
  const own = ['policy', 'level', 'on', 'deny', 'message', ...(isOfRequests ? ['requests'] : [])]
  const missing = own.filter((each) => !(each in value))
  if (missing.length === 0) return []
  const names = missing.map((key) => `"${key}"`).join(', ')
  return [policyShape.createFinding('', `a policy also needs ${names}`)]
}

/** Creates the diagnostic of a fault of an expression, at its place in the file. */
function createFault(
  document: YamlDocument,
  key: 'when' | 'deny' | 'message',
  { fault, at }: ExpressionFault,
): Diagnostic {
  const pointer = `/${key}`
  const text = String((document.value as JsonObject)[key])
  const found = createDiagnostic(document, {
    ...policyShape.createFinding(pointer, `"${key}": ${fault}`),
    summary: 'This expression is not valid',
  })
  return { ...found, ...locateWithin(document, findPlace(document, pointer), text, at) }
}

/** Finds a position of a text in its file; the place of the text if it is written with escapes. */
function locateWithin(
  { file }: YamlDocument,
  place: Place,
  text: string,
  at: number,
): Pick<Place, 'line' | 'column' | 'endLine' | 'endColumn'> {
  const before = text.slice(0, at).split('\n')
  const [own = '', offset] = [text.split('\n')[before.length - 1], before.at(-1)?.length ?? 0]
  const lines = file.text.split('\n')
  // A block begins below its key, and each line of it is at its own indent.
  for (let i = place.line - 1; i < Math.min(lines.length, place.line + before.length + 1); i++) {
    const start = i === place.line - 1 ? place.column - 1 : 0
    const found = own === '' ? -1 : (lines[i] ?? '').indexOf(own, start)
    if (found === -1) continue
    const column = found + offset + 1
    return { line: i + 1, column, endLine: i + 1, endColumn: column + 1 }
  }
  return place
}
