import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { loadWorkspace } from '../../src/manifest/manifests/load-workspace.ts'
import type { Workspace } from '../../src/manifest/workspace-file/workspace.ts'
import type { FileGlobs } from '../../src/manifest/workspace-file/file-kinds.ts'
import type { SecretKeeper } from '../../src/core/model/secret.ts'

/** A keeper with readable fingerprints: `scrypt:<template>`, or the length of a literal. */
export const plainKeeper: SecretKeeper = {
  maskTemplate: (template) => ({ $secret: `scrypt:${template}` }),
  maskLiteral: (value) => ({ $secret: `scrypt:literal of ${value.length}` }),
  occursIn: () => false,
}

/**
 * Creates a workspace folder with these files; `edgewise.yaml` is `version: 1` unless given. The
 * folder is removed after the test.
 */
export function createFolder(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'edgewise-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  for (const [path, text] of Object.entries({ 'edgewise.yaml': 'version: 1\n', ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

/** Returns the usual globs of files, with others for some kinds. */
export function listGlobs(others: Partial<FileGlobs> = {}): FileGlobs {
  const usual = ['manifests', 'profiles', 'policies', 'requests', 'tests'] as const
  const all = usual.map((kind) => [kind, [`${kind}/**`]])
  return { ...(Object.fromEntries(all) as FileGlobs), ...others }
}

/** Creates and loads a workspace with these files. */
export function createWorkspace(
  files: Record<string, string>,
  env: Record<string, string> = {},
): Workspace {
  return loadWorkspace(createFolder(files), env, () => plainKeeper)
}

/** Formats each diagnostic as `file:line:column-endColumn code`. */
export function listMarks(workspace: Workspace): string[] {
  return workspace.diagnostics.map(
    (each) => `${each.file}:${each.line}:${each.column}-${each.endColumn} ${each.code}`,
  )
}

/** Lists the canonical values of a domain by item; `unset` for an unset item. */
export function listValues(workspace: Workspace, domain: string): Record<string, unknown> {
  const items = workspace.desired.get(domain)
  return Object.fromEntries(
    [...(items ?? [])].map(([item, state]) => [
      item,
      state.status === 'unset' ? 'unset' : state.candidates[0],
    ]),
  )
}
