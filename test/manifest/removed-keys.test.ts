import { expect, it } from 'vitest'
import { removedKeys } from '../../src/manifest/workspace-file/removed-keys.ts'
import { parseWorkspaceConfig } from '../../src/manifest/workspace-file/workspace-config.ts'

/** Lists the faults of a workspace file with a key at a path, and the column of the key. */
function listFaults(path: string): { faults: string[]; column: number } {
  const steps = path.split('.')
  const text = `version: 1\n${steps.map((step) => `${step}: `).join('{')}1${'}'.repeat(steps.length - 1)}\n`
  const { diagnostics } = parseWorkspaceConfig({ path: 'edgewise.yaml', text }, {})
  const faults = diagnostics.map(
    ({ file, line, column, detail }) => `${file}:${line}:${column} ${detail}`,
  )
  return { faults, column: text.split('\n')[1]!.indexOf(`${steps.at(-1)!}:`) + 1 }
}

it.each(Object.entries(removedKeys.workspace))('%s: what to do instead', (path, advice) => {
  const { faults, column } = listFaults(path)
  expect(faults).toEqual([`edgewise.yaml:2:${column} "${path}" was removed: ${advice}`])
})

it('counts at its own path only', () => {
  for (const path of ['sign.comand', 'command', 'service.command', 'sign.toString'])
    expect(listFaults(path).faults.join()).not.toContain('was removed')
})
