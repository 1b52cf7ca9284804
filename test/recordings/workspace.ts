import type { Fault } from '../../src/emulator/entities/fault.ts'
import type { Json, JsonObject } from '../../src/core/model/json.ts'

/** Texts of files by their paths; null removes a file. */
export type Files = Record<string, string | null>

/** A workspace whose commands are recorded. */
export interface RecordedWorkspace {
  /** Unique among all. */
  name: string
  files: Files
  /** Files that change between the two halves of the commands. */
  edits: Files
  /** The domain of commands for one domain. */
  domain: string
  commands: 'usual' | 'invalid' | 'all' | 'rollout' | 'none'
  /** Faults of the service. */
  faults?: Fault[]
  /** Whether the service offers what some accounts do beyond the specification. */
  extended?: boolean
}

/** Address of the service, which no socket reaches. */
export const serviceUrl = 'https://cdn.example.net'

/** Builds a workspace file; JSON is YAML. */
export function buildWorkspaceFile(settings: JsonObject = {}): string {
  const { service, ...others } = settings
  return JSON.stringify({
    version: 1,
    service: {
      url: serviceUrl,
      itemKeys: { deny_protocol: 'deny_protocol', error_bcache: 'error_bcache' },
      ...(service as JsonObject | undefined),
    },
    state: { store: 'dir' },
    secrets: { signing: { env: 'SIGNING' }, storage: { env: 'STORAGE' } },
    allowLiteralSecrets: true,
    ...others,
  })
}

/** Builds manifests, a file each. */
export function buildManifests(configs: Iterable<readonly [domain: string, Json]>): Files {
  return Object.fromEntries(
    [...configs].map(([domain, config]) => [
      `domains/${domain.replace(/^\.|\*/, '_')}.yaml`,
      JSON.stringify({ domain, config }, null, 2),
    ]),
  )
}

/** Builds the edits from some files to others. */
export function diffFiles(from: Files, to: Files): Files {
  const removed = Object.keys(from).map((path) => [path, null] as const)
  const changed = Object.entries({ ...Object.fromEntries(removed), ...to })
  return Object.fromEntries(changed.filter(([path, text]) => from[path] !== text))
}
