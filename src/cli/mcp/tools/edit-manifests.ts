import type { Policed } from '../../../operations/runtime/workspace-parts.ts'
import { isCollection, isMap } from 'yaml'
import { EdgewiseError } from '../../../core/model/edgewise-error.ts'
import type { Json } from '../../../core/model/json.ts'
import { formatYaml } from '../../../manifest/yaml/format-yaml.ts'
import { parseText } from '../../../manifest/yaml/yaml-text.ts'

/** An item of a domain with a new value; null takes it out of the manifest. */
export interface ManifestEdit {
  domain: string
  item: string
  value: Json
}

interface EditedFile {
  path: string
  before: string
  after: string
}

/**
 * Edits the manifests of domains in memory. A file in the canonical layout keeps it.
 *
 * @throws EdgewiseError `usage` for a domain that no manifest declares alone
 */
export function editManifests(
  { findDomainPlace, findSource }: Policed,
  edits: ManifestEdit[],
): EditedFile[] {
  const files = new Map<string, EditedFile>()
  for (const { domain, item, value } of edits) {
    const place = findDomainPlace(domain.toLowerCase())
    const before = place === null ? null : findSource(place.file)
    if (place === null || before === null)
      throw new EdgewiseError(
        'usage',
        `no manifest declares "${domain}"`,
        'Pass "file" and "text" of a new manifest.',
      )
    const path = place.file
    const file = files.get(path) ?? { path, before, after: before }
    const edited = editDocument(file.after, place.document, item, value)
    if (edited === null)
      throw new EdgewiseError(
        'usage',
        `the manifest of "${domain}" in ${path} has several domains, or no plain "config"`,
        'Pass "file" and its whole new "text".',
      )
    files.set(path, { ...file, after: edited })
  }
  return [...files.values()].map((file) => ({ ...file, after: keepLayout(file) }))
}

/** Sets an item of one document; null if that is not possible. */
function editDocument(text: string, index: number, item: string, value: Json): string | null {
  const documents = parseText(text)
  const document = documents[index]
  const isPlain =
    document !== undefined &&
    document.errors.length === 0 &&
    typeof document.get('domain') === 'string' &&
    isMap(document.get('config'))
  if (!isPlain) return null
  if (value === null) document.deleteIn(['config', item])
  else {
    const former = document.getIn(['config', item], true)
    const flow = isCollection(former) ? former.flow === true : isShort(value)
    document.setIn(['config', item], document.createNode(value, { flow }))
  }
  const layout = { lineWidth: 0, flowCollectionPadding: false }
  const edited = documents.map((each) => each.toString(layout)).join('')
  return /^.*\r\n/.test(text) ? edited.replaceAll(/\r?\n/g, '\r\n') : edited
}

/** Tests whether a value fits into a line in flow style, beside its item. */
function isShort(value: Json): boolean {
  return JSON.stringify(value).length <= 60
}

/** Formats the new text as `edgewise fmt` does, if the text before was formatted so. */
function keepLayout({ path, before, after }: EditedFile): string {
  const format = (text: string) => {
    const formatted = formatYaml({ path, text })
    return 'text' in formatted ? formatted.text : null
  }
  return format(before) === before ? (format(after) ?? after) : after
}
