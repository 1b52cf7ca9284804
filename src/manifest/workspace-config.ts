import { createHash } from 'node:crypto'
import type { Amount } from '../model/amount.ts'
import type { ItemKey } from '../model/item.ts'
import { resolvePointer, isObject, getOwn, type JsonObject } from '../model/json.ts'
import type { Diagnostic } from '../model/problem.ts'
import { findMisplaced, listPlacedTexts } from './credential-places.ts'
import { listCredentials } from './credentials.ts'
import { verifyFully } from './database-address.ts'
import { passwordVariable } from './database-secrets.ts'
import { createDiagnostic, createFileDiagnostic, type Finding } from './finding.ts'
import { ProblemQuota } from './problem-quota.ts'
import { listVariables, replaceEnvironment, type Environment } from './workspace-env.ts'
import { checkRules } from './workspace-rules.ts'
import { checkShape } from './workspace-shape.ts'
import type { SecretSource, WorkspaceConfig } from './workspace.ts'
import type { Burst, HealthConfig, NotifyConfig, PlacedText, StateConfig } from '../model/config.ts'
import { parseYaml, type SourceFile, type YamlDocument } from './yaml-file.ts'

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
  const config = buildConfig(value as unknown as ValidContent, written, texts)
  const rules = checkRules(config, (pointer) => resolvePointer(written, pointer))
  if (rules.length > 0) return fail(rules)
  const literal = isLiteralToken(written) ? [createDiagnostic(document, literalToken)] : []
  return { config, document, diagnostics: literal }
}

/** Tests whether the token itself is in the file, which everybody with the repository can read. */
function isLiteralToken(written: JsonObject): boolean {
  const token = resolvePointer(written, '/service/token')
  return typeof token === 'string' && token !== '' && !/(?<!\$)\$\{env:/.test(token)
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

/** The workspace file after validation by its schema, defaults included. */
interface ValidContent extends Omit<
  WorkspaceConfig,
  'state' | 'limits' | 'guards' | 'rollout' | 'secrets' | 'notify' | 'serve' | 'texts'
> {
  notify: Omit<NotifyConfig, 'variables' | 'key'>[]
  serve: { drift: { schedule?: string; observed?: string; repair: boolean } }
  limits: Omit<WorkspaceConfig['limits'], 'burst'> & { burst?: string }
  secrets: Record<string, SecretSource>
  state?: ValidState
  guards: {
    maxDomains: number | string
    maxChanges: number | string
    protect: string[]
    freeze: { from: string; to: string; timezone?: string; reason?: string }[]
    order: 'ask' | 'off'
  }
  rollout: {
    waves: (number | string)[]
    first: string[]
    pause: string
    approval: number[]
    health?: ValidHealth
  }
}

interface ValidState {
  store: 'git' | 'dir' | 'postgres'
  branch: string
  remote: string
  path: string
  url?: string
  schema: string
}

interface ValidHealth extends Omit<
  HealthConfig,
  'settle' | 'lag' | 'window' | 'statuses' | 'margin'
> {
  settle: string
  lag: string
  window: string
  statuses: (string | number)[]
  margin: string
}

/** Call rate of the built-in emulator by default: more than it can answer. */
export const emulatorCallsPerMinute = 100_000

function buildConfig(
  content: ValidContent,
  written: JsonObject,
  texts: PlacedText[],
): WorkspaceConfig {
  const { service, limits, guards, rollout, state } = content
  const hasDefault = (limit: string) =>
    service.url === 'emulator' && resolvePointer(written, `/limits/${limit}`) === undefined
  const itemKeys: Record<ItemKey, string> = service.itemKeys
  return {
    ...content,
    texts: texts.filter(({ isCredential }) => !isCredential),
    service: {
      ...service,
      itemKeys,
      url: service.url === 'emulator' ? service.url : service.url.replace(/(?<!\/)\/+$/, ''),
      writtenUrl: getWrittenUrl(written) ?? service.url,
    },
    state:
      state === undefined
        ? { store: null, branch: 'edgewise-state', remote: 'origin', path: '.edgewise/state' }
        : buildState(state, written),
    notify: buildReceivers(content.notify, written),
    moved: content.moved.map(({ from, to }) => ({
      from: from.toLowerCase(),
      to: to.toLowerCase(),
    })),
    serve: { drift: { schedule: null, observed: null, ...content.serve.drift } },
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
      freeze: guards.freeze.map((window) => ({
        timezone: service.timezone,
        reason: '',
        ...window,
      })),
    },
    rollout: {
      ...rollout,
      waves: rollout.waves.map(parseAmount),
      pause: parseSeconds(rollout.pause),
      health: rollout.health === undefined ? null : buildHealth(rollout.health),
    },
  }
}

function buildState({ url = '', schema, ...state }: ValidState, written: JsonObject): StateConfig {
  if (state.store !== 'postgres') return state
  const text = resolvePointer(written, '/state/url')
  const names = typeof text === 'string' ? listVariables(text) : []
  const variables = [...names, passwordVariable]
  if (url === '') return { ...state, variables }
  return { ...state, variables, database: { url: verifyFully(url), schema } }
}

type WrittenReceiver = Omit<NotifyConfig, 'variables' | 'key'>

function buildReceivers(receivers: WrittenReceiver[], written: JsonObject): NotifyConfig[] {
  const counts = new Map<string, number>()
  return receivers.map((receiver, i) => buildReceiver(receiver, i, written, counts))
}

/** @param counts numbers of the receivers before, by hash */
function buildReceiver(
  receiver: WrittenReceiver,
  index: number,
  written: JsonObject,
  counts: Map<string, number>,
): NotifyConfig {
  const variables = ['url', 'secret'].flatMap((key) => {
    const text = resolvePointer(written, `/notify/${index}/${key}`)
    return typeof text === 'string' ? listVariables(text) : []
  })
  const url = resolvePointer(written, `/notify/${index}/url`)
  const hash = createHash('sha256')
    .update(JSON.stringify([receiver.kind, url]))
    .digest('hex')
  // Equal receivers are distinguished by their order.
  const position = counts.get(hash) ?? 0
  counts.set(hash, position + 1)
  return { ...receiver, variables, key: `${hash}-${position}` }
}

function getWrittenUrl(written: JsonObject): string | null {
  const url = resolvePointer(written, '/service/url')
  return typeof url === 'string' ? url : null
}

function buildHealth(health: ValidHealth): HealthConfig {
  const times = {
    settle: parseSeconds(health.settle),
    lag: parseSeconds(health.lag),
    window: parseSeconds(health.window),
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
