import type { Amount } from '../model/amount.ts'
import type { ItemKey } from '../model/item.ts'
import { resolvePointer, isObject, getOwn, type JsonObject } from '../model/json.ts'
import type { Diagnostic } from '../model/problem.ts'
import { createDiagnostic, createFileDiagnostic, type Finding } from './finding.ts'
import { replaceEnvironment, type Environment } from './workspace-env.ts'
import { checkRules } from './workspace-rules.ts'
import { checkShape } from './workspace-shape.ts'
import type { SecretSource, WorkspaceConfig } from './workspace.ts'
import type { HealthConfig } from '../model/config.ts'
import { parseYaml, type SourceFile, type YamlDocument } from './yaml-file.ts'

/**
 * The workspace file as far as it could be read; a configuration may have warnings, no
 * configuration has errors.
 */
export type ParsedWorkspaceConfig =
  | { config: WorkspaceConfig; document: YamlDocument; diagnostics: Diagnostic[] }
  | { config: null; diagnostics: Diagnostic[] }

/** The workspace file with its defaults filled in, or null and what is wrong with it. */
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
  if (second !== undefined) return refuse('expected one document, got several. Take the "---" out.')
  if (!isObject(document.value)) return refuse('expected a mapping that begins with "version: 1"')

  const written = withToken(withoutNulls(document.value))
  const { value, findings } = replaceEnvironment(written, env)
  const shape = findings.length > 0 ? findings : checkShape(value, written)
  const failed = (all: Finding[]): ParsedWorkspaceConfig => ({
    config: null,
    diagnostics: all.map((finding) => createDiagnostic(document, finding)),
  })
  if (shape.length > 0) return failed(shape)
  const config = configOf(value as unknown as ValidContent)
  const rules = checkRules(config, (pointer) => resolvePointer(written, pointer) !== undefined)
  return rules.length > 0 ? failed(rules) : { config, document, diagnostics: [] }
}

/** A key without a value, its lines commented out perhaps, is as good as absent. */
function withoutNulls(content: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(content).filter(([, value]) => value !== null))
}

function withToken(content: JsonObject): JsonObject {
  const service = getOwn(content, 'service') ?? {}
  return isObject(service)
    ? { ...content, service: { token: '${env:EDGEWISE_TOKEN}', ...service } }
    : content
}

/** The workspace file as its schema leaves it, defaults included. */
interface ValidContent extends Omit<WorkspaceConfig, 'state' | 'guards' | 'rollout' | 'secrets'> {
  secrets: Record<string, SecretSource>
  state?: { store: 'git' | 'dir'; branch: string; remote: string; path: string }
  guards: {
    maxDomains: number | string
    maxChanges: number | string
    protect: string[]
    freeze: { from: string; to: string; timezone?: string; reason?: string }[]
  }
  rollout: { waves: (number | string)[]; first: string[]; pause: string; health?: ValidHealth }
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

function configOf(content: ValidContent): WorkspaceConfig {
  const { service, guards, rollout, state } = content
  const itemKeys: Record<ItemKey, string> = service.itemKeys
  return {
    ...content,
    service: {
      ...service,
      itemKeys,
      url: service.url === 'emulator' ? service.url : service.url.replace(/\/+$/, ''),
    },
    state: state ?? {
      store: null,
      branch: 'edgewise-state',
      remote: 'origin',
      path: '.edgewise/state',
    },
    guards: {
      ...guards,
      maxDomains: amountOf(guards.maxDomains),
      maxChanges: amountOf(guards.maxChanges),
      freeze: guards.freeze.map((window) => ({
        timezone: service.timezone,
        reason: '',
        ...window,
      })),
    },
    rollout: {
      ...rollout,
      waves: rollout.waves.map(amountOf),
      pause: secondsOf(rollout.pause),
      health: rollout.health === undefined ? null : healthOf(rollout.health),
    },
  }
}

function healthOf(health: ValidHealth): HealthConfig {
  const times = {
    settle: secondsOf(health.settle),
    lag: secondsOf(health.lag),
    window: secondsOf(health.window),
  }
  return {
    ...health,
    ...times,
    statuses: health.statuses.map(String),
    margin: Number(health.margin.slice(0, -1)),
  }
}

function amountOf(value: number | string): Amount {
  return typeof value === 'number' ? { count: value } : { percent: Number(value.slice(0, -1)) }
}

const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }

function secondsOf(time: string): number {
  return Number(time.slice(0, -1)) * (unitSeconds[time.slice(-1)] ?? 1)
}
