import { expect, it } from 'vitest'
import { removedKeys } from '../../src/manifest/workspace-file/removed-keys.ts'
import { parseWorkspaceConfig } from '../../src/manifest/workspace-file/workspace-config.ts'

/** Lists the faults of a workspace file with a key at a path. */
function listFaults(path: string): { faults: string[]; line: string } {
  const steps = path.split('.')
  const line = `${steps.map((step) => `${step}: `).join('{')}1${'}'.repeat(steps.length - 1)}`
  const file = { path: 'edgewise.yaml', text: `version: 1\n${line}\n` }
  const faults = parseWorkspaceConfig(file, {}).diagnostics.map(
    (each) => `${each.file}:${each.line}:${each.column} ${each.detail}`,
  )
  return { faults, line }
}

it.each(Object.entries(removedKeys.workspace))('%s: what to do instead', (path, advice) => {
  const { faults, line } = listFaults(path)
  const column = line.indexOf(`${path.split('.').at(-1) ?? ''}:`) + 1
  expect(faults).toEqual([`edgewise.yaml:2:${column} "${path}" was removed: ${advice}`])
})

it('counts at its own path only', () => {
  for (const path of ['sign.comand', 'command', 'service.command', 'sign.toString'])
    expect(listFaults(path).faults.join('\n')).not.toContain('was removed')
})
