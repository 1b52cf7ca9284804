import { catalogue } from '../catalog/catalogue.ts'
import { didYouMean } from '../catalog/value/nearest.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'

/**
 * Rejects unknown names of items.
 *
 * @throws EdgewiseError `usage`, with the closest known name
 */
export function refuseUnknownItems(items: string[]): void {
  const unknown = items.find((item) => !catalogue.has(item))
  if (unknown === undefined) return
  throw new EdgewiseError(
    'usage',
    `there is no item "${unknown}".${didYouMean(unknown, catalogue.keys())}`,
    '"edgewise explain" lists all items.',
  )
}
