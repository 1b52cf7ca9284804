import { catalogue } from '../../core/catalog/catalogue.ts'
import { chooseAlternative, findFieldSchema } from '../../core/catalog/value/item-schema.ts'
import { parsePointer, resolvePointer, type JsonObject } from '../../core/model/json.ts'
import type { DiagnosticCode } from '../../core/model/problem.ts'
import type { YamlDocument } from './yaml-file.ts'
import type { Finding } from '../manifests/finding.ts'

/** Places of text beside the items. */
const texts = /^\/(?:vars|domains?|profiles|owners)\b/

type Written = Pick<YamlDocument, 'written'>

/**
 * Finds numbers in place of text, such as a variable or a field, that would be sent in another form
 * than they are written in.
 *
 * @param base pointer of the items
 * @param others code of findings outside of items
 */
export function findConverted(
  { written = [] }: Written,
  base: string,
  others: DiagnosticCode,
): Finding[] {
  return written.flatMap(({ pointer, text }): Finding[] => {
    const { code, item, field } = findField(pointer, base, others)
    const isText = texts.test(pointer.slice(base.lastIndexOf('/'))) || field?.type === 'string'
    if (text === '' || !isText) return []
    const detail =
      field?.writeOnly === true
        ? 'expected text, got a number. Put quotes around it.'
        : `expected text, got ${text}, which is the number ${Number(text)} without quotes. Write ` +
          `"${text}" with the quotes, or ${Number(text)}.`
    return [{ code, pointer, summary: 'Text without quotes', detail, item }]
  })
}

/**
 * Finds keys with nothing behind them, often since it is commented out.
 *
 * @param base pointer of the items
 * @param below configuration that they take a part out of; null if it is not known
 */
export function findEmpty(
  { written = [] }: Written,
  base: string,
  others: DiagnosticCode,
  below: JsonObject | null,
): Finding[] {
  return written.flatMap(({ pointer, text }): Finding[] => {
    const { code, item, field } = findField(pointer, base, others)
    // An unknown key is reported anyway.
    if (text !== '' || (item !== undefined && field === undefined)) return []
    const taken = below && resolvePointer(below, pointer.slice(base.length))
    const idle = item !== undefined && taken === undefined
    const detail = idle
      ? 'nothing is behind this key, and nothing is set that it takes out. Write a value.'
      : 'nothing is behind this key. Write a value, or "null" if that is meant.'
    const severity = idle ? 'error' : 'warning'
    const summary = 'Key without a value'
    return [{ code, severity, pointer, part: 'key', summary, detail, item }]
  })
}

/** Finds the item of a pointer, the schema of its field, and the code of what is found there. */
function findField(pointer: string, base: string, others: DiagnosticCode) {
  if (!pointer.startsWith(`${base}/`)) return { code: others }
  const [item = '', ...steps] = parsePointer(pointer.slice(base.length))
  const schema = catalogue.get(item)?.schema
  const found = schema && findFieldSchema(schema, steps)
  return { code: 'item-invalid' as const, item, field: found && chooseAlternative(found, '') }
}
