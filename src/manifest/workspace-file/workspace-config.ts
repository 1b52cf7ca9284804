import { createHash } from 'node:crypto'
import type { WorkspaceFile } from './generated/workspace-types.ts'
import { verifyFully } from './address-rules.ts'
import { findMisplaced, listPlacedTexts } from './credential-places.ts'
import { listCredentials, passwordVariable } from './credentials.ts'
import {
  type Finding,
  ProblemQuota,
  createDiagnostic,
  createFileDiagnostic,
} from '../manifests/finding.ts'
import { type Environment, listVariables, replaceEnvironment } from './workspace-env.ts'
import { checkRules } from './workspace-rules.ts'
import { checkShape } from './workspace-shape.ts'
import type { WorkspaceConfig } from './workspace.ts'
import { type SourceFile, type YamlDocument, parseYaml } from '../yaml/yaml-file.ts'
import type {
  Amount,
  AuthConfig,
  Burst,
  HealthConfig,
  NotifyConfig,
  PlacedText,
  StateConfig,
} from '../../core/model/config.ts'
import {
  type JsonObject,
  getOwn,
  isObject,
  pickDefined,
  resolvePointer,
} from '../../core/model/json.ts'
import { normalizeUser } from '../../core/model/people/identity.ts'
import { lowerAscii } from '../../core/model/text/lower-ascii.ts'
import type { Diagnostic } from '../../core/model/problem.ts'

/** The parsed workspace file. A configuration may have warnings; null has errors. */
export type ParsedWorkspaceConfig =
  | { config: WorkspaceConfig; document: YamlDocument; diagnostics: Diagnostic[] }
  | { config: null; diagnostics: Diagnostic[] }

/** Parses the workspace file and fills in defaults; null and diagnostics if it is invalid. */
export function parseWorkspaceConfig(file: SourceFile, env: Environment): ParsedWorkspaceConfig {
  const { documents, diagnostics } = parseYaml(file)
  const [document, second] = documents
  const refuse = (detail: string): ParsedWorkspaceConfig => {
    return {
      config: null,
      diagnostics: [
        createFileDiagnostic(file.path, {
          code: 'workspace-invalid',
          summary: 'The workspace file is not valid',
          detail,
        }),
      ],
    }
  }
  if (diagnostics.length > 0) return { config: null, diagnostics }
  if (document === undefined) return refuse('expected at least "version: 1", got an empty file')
  if (second !== undefined) return refuse('expected one document, got several. Remove the "---".')
  if (!isObject(document.value)) return refuse('expected a mapping that begins with "version: 1"')

  const written = addDefaultToken(dropNulls(document.value))
  const { value, findings } = replaceEnvironment(written, env)
  const texts = listPlacedTexts(written, value, env)
  const misplaced = findMisplaced(texts, listCredentials(written, value, env))
  const unknown = findings.filter(
    ({ pointer }) => !misplaced.some((other) => other.pointer === pointer),
  )
  const first = [...misplaced, ...unknown]
  const shape = first.length > 0 ? first : checkShape(value, written)
  const fail = (all: Finding[]): ParsedWorkspaceConfig => {
    const quota = new ProblemQuota()
    const listed = quota.take(document, all)
    const placed = listed.map((finding) => createDiagnostic(document, finding))
    return { config: null, diagnostics: [...placed, ...quota.summarize()] }
  }
  if (shape.length > 0) return fail(shape)
  const config = buildConfig(value as unknown as WorkspaceFile, written, texts)
  const rules = checkRules(config, (pointer) => resolvePointer(written, pointer))
  if (rules.length > 0) return fail(rules)
  if (!isLiteralToken(written)) return { config, document, diagnostics: [] }
  if (!config.allowLiteralSecrets) return fail([{ ...literalToken, severity: 'error' }])
  return { config, document, diagnostics: [createDiagnostic(document, literalToken)] }
}

/** Parses `written` of a valid configuration; null if it does not fit the schema. */
export function parseWritten(written: JsonObject): WorkspaceConfig | null {
  const value = structuredClone({ version: 1, ...written })
  if (checkShape(value, written).length > 0) return null
  return buildConfig(value as unknown as WorkspaceFile, written, [])
}

/** Tests whether the token itself is in the file, which everybody with the repository can read. */
function isLiteralToken(written: JsonObject): boolean {
  const token = findText(written, '/service/token')
  return token !== '' && !/(?<!\$)\$\{env:/.test(token)
}

const literalToken: Finding = {
  code: 'token-literal',
  severity: 'warning',
  pointer: '/service/token',
  summary: 'Token in plain text',
  detail:
    'expected a reference to an environment variable, got the token itself. Write "token: ' +
    '${env:EDGEWISE_TOKEN}" and set that variable. Replace the token at the service if this ' +
    'file was ever shared.',
}

/** Drops keys without a value, for example with commented-out content: they count as absent. */
function dropNulls(content: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(content).filter(([, value]) => value !== null))
}

function addDefaultToken(content: JsonObject): JsonObject {
  const service = getOwn(content, 'service') ?? {}
  return isObject(service)
    ? { ...content, service: { token: '${env:EDGEWISE_TOKEN}', ...service } }
    : content
}

/** Call rate of the built-in emulator by default: more than it can answer. */
export const emulatorCallsPerMinute = 100_000

function buildConfig(
  content: WorkspaceFile,
  written: JsonObject,
  texts: PlacedText[],
): WorkspaceConfig {
  const { service, limits, guards, rollout, serve } = content
  const find = (pointer: string) => findText(written, pointer)
  const hasDefault = (limit: string) =>
    service.url === 'emulator' && resolvePointer(written, `/limits/${limit}`) === undefined
  const counts = new Map<string, number>()
  return {
    ...content,
    secrets: content.secrets as WorkspaceConfig['secrets'],
    written: pickRestraining(written, service.timezone),
    texts: texts.filter(({ isCredential }) => !isCredential),
    service: {
      ...service,
      url: service.url === 'emulator' ? service.url : service.url.replace(/(?<!\/)\/+$/, ''),
      writtenUrl: find('/service/url') || service.url,
    },
    state: buildState(content.state, find('/state/url')),
    notify: content.notify.map((receiver, i) =>
      buildReceiver(receiver, find(`/notify/${i}/url`), find(`/notify/${i}/secret`), counts),
    ),
    moved: content.moved.map(({ from, to }) => ({
      from: lowerAscii(from),
      to: lowerAscii(to),
    })),
    roles: content.roles.map((rule) => ({ ...rule, users: rule.users.map(normalizeUser) })),
    serve: {
      url: serve.url?.replace(/(?<!\/)\/+$/, '') ?? null,
      drift: { schedule: null, observed: null, ...serve.drift },
      auth: buildAuth(serve.auth, find('/serve/auth/clientSecret')),
    },
    limits: {
      ...limits,
      ...(hasDefault('callsPerMinute') ? { callsPerMinute: emulatorCallsPerMinute } : {}),
      ...(hasDefault('readsPerMinute') ? { readsPerMinute: emulatorCallsPerMinute } : {}),
      burst: limits.burst === undefined ? null : parseBurst(limits.burst),
    },
    guards: {
      ...guards,
      maxDomains: parseAmount(guards.maxDomains),
      maxChanges: parseAmount(guards.maxChanges),
      maxTraffic: parseFloat(guards.maxTraffic),
      protect: guards.protect.length === 0 ? [] : [guards.protect],
      freeze: guards.freeze.map((each) => ({ timezone: service.timezone, reason: '', ...each })),
    },
    rollout: {
      ...rollout,
      waves: rollout.waves.map(parseAmount),
      ...parseApproval(rollout.approval),
      pause: parseSeconds(rollout.pause),
      health: rollout.health === undefined ? null : buildHealth(rollout.health),
    },
  }
}

function pickRestraining(written: JsonObject, timezone: string): JsonObject {
  const { guards, rollout, checks, roles, trace } = written
  return pickDefined({ guards, rollout, checks, roles, trace, service: { timezone } })
}

/** Parses numbers of waves, or a wave and a share above which any wave needs approval. */
function parseApproval(
  given: WorkspaceFile['rollout']['approval'],
): Pick<WorkspaceConfig['rollout'], 'approval' | 'approvalAbove' | 'approvers'> {
  const { wave, above, by = 1, notAuthor = false } = Array.isArray(given) ? {} : given
  const one = wave === undefined ? [] : [wave]
  return {
    approval: Array.isArray(given) ? given : one,
    approvers: { by, notAuthor },
    ...(above === undefined ? {} : { approvalAbove: parseFloat(above) }),
  }
}

/** Finds the text that the file itself has at a pointer; empty without one. */
function findText(written: JsonObject, pointer: string): string {
  const text = resolvePointer(written, pointer)
  return typeof text === 'string' ? text : ''
}

/** @param secret that the file has */
function buildAuth(auth: WorkspaceFile['serve']['auth'], secret: string): AuthConfig {
  const { issuer, clientId = '', clientSecret, groupsClaim, proxy, ci } = auth ?? {}
  return {
    provider:
      issuer === undefined || groupsClaim === undefined
        ? null
        : { issuer, clientId, clientSecret: clientSecret ?? null, groupsClaim },
    proxy: proxy === undefined ? null : { ...proxy, groups: proxy.groups ?? null },
    ci: ci ?? [],
    variables: listVariables(secret),
  }
}

/** @param address that the file has */
function buildState(given: WorkspaceFile['state'], address: string): StateConfig {
  if (given === undefined)
    return { store: null, branch: 'edgewise-state', remote: 'origin', path: '.edgewise/state' }
  const { url = '', schema, ...state } = given
  if (state.store !== 'postgres') return state
  const variables = [...listVariables(address), passwordVariable]
  if (url === '') return { ...state, variables }
  return { ...state, variables, database: { url: verifyFully(url), schema } }
}

/**
 * @param address that the file has, and `key`
 * @param counts numbers of the receivers before, by hash
 */
function buildReceiver(
  receiver: WorkspaceFile['notify'][number],
  address: string,
  key: string,
  counts: Map<string, number>,
): NotifyConfig {
  const variables = [address, key].flatMap(listVariables)
  const hash = createHash('sha256')
    .update(JSON.stringify([receiver.kind, address]))
    .digest('hex')
  // Equal receivers are distinguished by their order.
  const position = counts.get(hash) ?? 0
  counts.set(hash, position + 1)
  return { ...receiver, variables, key: `${hash}-${position}` }
}

function buildHealth(health: NonNullable<WorkspaceFile['rollout']['health']>): HealthConfig {
  const times = {
    settle: parseSeconds(health.settle),
    lag: parseSeconds(health.lag),
    window: parseSeconds(health.window),
    after: parseSeconds(health.after),
  }
  return {
    ...health,
    ...times,
    statuses: health.statuses.map(String),
    margin: Number(health.margin.slice(0, -1)),
  }
}

function parseAmount(value: number | string): Amount {
  return typeof value === 'number' ? { count: value } : { percent: Number(value.slice(0, -1)) }
}

/** Parses `24 per 2s`. */
function parseBurst(text: string): Burst {
  const [calls = '', seconds = ''] = text.slice(0, -1).split(' per ')
  return { calls: Number(calls), seconds: Number(seconds) }
}

const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }

function parseSeconds(time: string): number {
  return Number(time.slice(0, -1)) * (unitSeconds[time.slice(-1)] ?? 1)
}
