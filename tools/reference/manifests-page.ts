import { formatKeys, type Schema } from './schema-keys.ts'

/**
 * Fills the lists of keys in the page of manifests and profiles, between `<!-- keys: NAME -->` and
 * `<!-- /keys -->`.
 *
 * @throws Error if a list has no place in the page
 */
export function fillManifestsPage(page: string, schemas: Record<string, Schema>): string {
  return Object.entries(schemas).reduce((text, [name, schema]) => {
    const place = new RegExp(`(<!-- keys: ${name} [^>]*-->\n)[\\s\\S]*?(\n<!-- /keys -->)`)
    if (!place.test(text)) throw new Error(`no place for the keys of a ${name}`)
    // The items have pages of their own.
    const config = {
      type: ['object', 'null'],
      description: '[Items](items.md) and their values. `null` removes an item or a field.',
    }
    const shown = { ...schema, properties: { ...schema.properties, config } }
    const list = formatKeys(shown, { paths: false }).join('\n')
    return text.replace(place, (_all, start: string, end: string) => `${start}\n${list}\n${end}`)
  }, page)
}
