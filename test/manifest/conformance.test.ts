import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { getItemSpec, unnamedItems } from '../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import { assemble } from '../../src/manifest/manifests/assemble.ts'
import { findIdleNulls } from '../../src/manifest/manifests/unknown-names.ts'
import { mergeOver } from '../../src/manifest/manifests/merge.ts'
import { parseWorkspaceConfig } from '../../src/manifest/workspace-file/workspace-config.ts'
import { parseYaml } from '../../src/manifest/yaml/yaml-file.ts'
import { isSameJson, isObject, type Json } from '../../src/core/model/json.ts'
import { plainKeeper } from './test-workspace.ts'

interface Case {
  id: string
  payload: Json
  manifest: boolean | null
  rule: string
}

const itemKeys = Object.fromEntries(unnamedItems.map((item) => [item, item]))
const home = {
  path: 'edgewise.yaml',
  text: JSON.stringify({ version: 1, allowLiteralSecrets: true, service: { itemKeys } }),
}
const workspace = parseWorkspaceConfig(home, {})

function listErrors(config: Json): unknown[] {
  if (workspace.config === null) throw new TypeError('expected a valid workspace file')
  const { documents, diagnostics } = parseYaml({
    path: 'domains/www.yaml',
    text: JSON.stringify({ domain: 'www.example.com', config }, null, 2),
  })
  const assembled = assemble(workspace.config, workspace.document, documents, plainKeeper)
  return [...diagnostics, ...assembled.diagnostics].filter(({ severity }) => severity === 'error')
}

/**
 * Tests whether merging makes an invalid payload valid by dropping items or fields that are null.
 * The cases judge payloads without that step.
 */
function isMadeValid(item: string, payload: Json): boolean {
  if (payload === null) return true
  if (!isObject(payload) || findIdleNulls({ [item]: payload }).length > 0) return false
  const merged = mergeOver({}, { [item]: payload }, [])
  return (
    !isSameJson(merged[item], payload) &&
    parseItem(getItemSpec(item), merged[item] ?? null, 'manifest').value !== null
  )
}

for (const name of ['items', 'own']) {
  const folder = new URL(`../conformance/${name}/`, import.meta.url)
  for (const file of readdirSync(folder).filter((each) => each.endsWith('.json'))) {
    const item = file.replace('.json', '')
    const cases = (JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Case[]).filter(
      ({ manifest }) => manifest !== null,
    )
    // One test for all cases of an item: a test for each would take longer than the cases.
    it(`${item} (${name}): each case is valid in a manifest, or not, as expected`, () => {
      const judged = cases
        .filter(({ payload, manifest }) => !(manifest === false && isMadeValid(item, payload)))
        .map(({ payload, ...given }) => ({ ...given, errors: listErrors({ [item]: payload }) }))
      const wrong = judged.filter(({ manifest, errors }) => manifest !== (errors.length === 0))
      expect(wrong).toEqual([])
    })
  }
}
