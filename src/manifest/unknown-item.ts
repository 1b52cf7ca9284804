import { catalogue } from '../catalog/catalogue.ts'
import { didYouMean } from '../catalog/value/nearest.ts'
import { formatPointerStep } from '../model/json.ts'
import { listSome } from '../model/words.ts'
import { isDocumentKey } from './document-keys.ts'
import type { Finding } from './finding.ts'

/** Creates the finding about an unknown item. The search for a similar name is slow. */
export function createUnknownItem(item: string): Finding {
  return {
    code: 'item-unknown',
    pointer: formatPointerStep(item),
    part: 'key',
    summary: 'Unknown item',
    detail: `there is no item "${item}".${suggest(item)}`,
  }
}

function suggest(item: string): string {
  if (isDocumentKey(item))
    return ` "${item}" is a key of manifests and profiles. Move it out of "config:".`
  const hint = didYouMean(item, catalogue.keys())
  if (hint !== '') return hint
  const owners = [...catalogue.values()].filter(({ schema }) =>
    Object.hasOwn(schema.properties ?? {}, item),
  )
  return owners.length === 0
    ? ' "edgewise explain" lists all items.'
    : ` It is a field of ${listSome(owners.map(({ key }) => key))}: indent it below its item.`
}
