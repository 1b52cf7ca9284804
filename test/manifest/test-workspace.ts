import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { rmSync } from 'node:fs'
import { loadWorkspace } from '../../src/manifest/load-workspace.ts'
import type { Workspace } from '../../src/manifest/workspace.ts'
import type { SecretKeeper } from '../../src/model/secret-keeper.ts'

/** A keeper whose secrets can be read off: `scrypt:<template>`; a literal shows its length only. */
export const plainKeeper: SecretKeeper = {
  maskTemplate: (template) => ({ $secret: `scrypt:${template}` }),
  maskLiteral: (value) => ({ $secret: `scrypt:literal of ${value.length}` }),
  occursIn: () => false,
}

/**
 * A workspace folder with these files; `edgewise.yaml` is `version: 1` unless given. Gone after the
 * test.
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

/** The workspace of these files. */
export function createWorkspace(
  files: Record<string, string>,
  env: Record<string, string> = {},
): Workspace {
  return loadWorkspace(createFolder(files), env, () => plainKeeper)
}

/** `file:line:column-endColumn code` of each diagnostic, errors and warnings. */
export function listMarks(workspace: Workspace): string[] {
  return workspace.diagnostics.map(
    (each) => `${each.file}:${each.line}:${each.column}-${each.endColumn} ${each.code}`,
  )
}

/** The canonical values of a domain, by item; `unset` for what is taken back. */
export function listValues(workspace: Workspace, domain: string): Record<string, unknown> {
  const items = workspace.desired.get(domain)
  return Object.fromEntries(
    [...(items ?? [])].map(([item, held]) => [
      item,
      held.status === 'unset' ? 'unset' : held.candidates[0],
    ]),
  )
}
