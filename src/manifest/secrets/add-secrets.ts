import { isMap, isScalar } from 'yaml'
import { formatYaml } from '../yaml/format-yaml.ts'
import { type SourceFile, parseYaml } from '../yaml/yaml-file.ts'
import { parseText } from '../yaml/yaml-text.ts'
import { type JsonObject, getOwn, isObject, isSameJson } from '../../core/model/json.ts'

/** A secret to add: its name, and the environment variable of its value. */
export interface AddedSecret {
  name: string
  variable: string
}

const comment =
  ' Added by "edgewise import". Set each variable to the value that the service has, or\n' +
  ' use {file: path} or {command: [program, argument]} instead of {env: NAME}.'

/**
 * Adds secrets to the workspace file, and formats it as `edgewise fmt` does. Its comments stay.
 *
 * @returns the new text; null if the file has a form that can't be extended
 */
export function addSecrets(file: SourceFile, secrets: AddedSecret[]): string | null {
  const [document, ...others] = parseText(file.text)
  if (document === undefined || others.length > 0 || !isMap(document.contents)) return null
  const present = document.get('secrets', true)
  if (present === undefined || (isScalar(present) && present.value === null)) {
    const created = document.createNode({})
    created.commentBefore = present?.comment ?? null
    document.set('secrets', created)
  }
  const section = document.get('secrets', true)
  if (!isMap(section)) return null
  const isExplained = section.flow === true || file.text.includes('# Added by "edgewise import".')
  for (const [i, { name, variable }] of secrets.entries()) {
    const key = document.createNode(name)
    if (i === 0 && !isExplained) key.commentBefore = comment
    section.add(document.createPair(key, document.createNode({ env: variable }, { flow: true })))
  }
  const lineEnd = /\r?\n/.exec(file.text)?.[0] ?? '\n'
  const text = document.toString({ lineWidth: 0 }).replaceAll('\n', lineEnd)
  const formatted = formatYaml({ path: file.path, text })
  return 'text' in formatted && hasAdded(file, formatted.text, secrets) ? formatted.text : null
}

/** Tests whether a text has the secrets, and nothing else of the file is changed. */
function hasAdded(before: SourceFile, text: string, secrets: AddedSecret[]): boolean {
  const [old] = parseYaml(before).documents
  const { documents, diagnostics } = parseYaml({ path: before.path, text })
  if (!isObject(old?.value) || documents.length !== 1 || diagnostics.length > 0) return false
  const known = getOwn(old.value, 'secrets')
  const added: JsonObject = Object.fromEntries(
    secrets.map(({ name, variable }) => [name, { env: variable }]),
  )
  const expected = { ...old.value, secrets: { ...(isObject(known) ? known : {}), ...added } }
  return isSameJson(documents[0]?.value, expected)
}
