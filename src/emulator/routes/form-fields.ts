import { Busboy } from '@fastify/busboy'
import qs from 'qs'
import type { JsonObject } from '../../core/model/json.ts'
import { decodePercents } from './parse-query.ts'
import { Refusal } from './refusal.ts'

const limits = { depth: 16, arrayLimit: 2000, parameterLimit: 20_000 }

/**
 * Parses the fields of an urlencoded form, nested by brackets: `config[https][http2]=on`,
 * `config[deny_url][urls][]=…`. The last value of a repeated field counts.
 */
export function parseUrlencoded(text: string): JsonObject {
  try {
    return qs.parse(text, {
      ...limits,
      strictDepth: true,
      throwOnLimitExceeded: true,
      plainObjects: true,
      duplicates: 'last',
      decoder: (part, _default, _charset, type) => decode(part, type),
    }) as JsonObject
  } catch (error) {
    if (error instanceof RangeError)
      throw new Refusal(
        'body-malformed',
        `the form is too large to be a configuration: ${error.message}`,
      )
    throw error
  }
}

/**
 * Parses the fields of a multipart form. Names nest as in an urlencoded form; a part counts as text
 * whether or not it names a file.
 */
export async function parseMultipart(body: Uint8Array, contentType: string): Promise<JsonObject> {
  const fields = await parseParts(body, contentType)
  return parseUrlencoded(
    fields
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
      .join('&'),
  )
}

function decode(part: string, type: 'key' | 'value'): string {
  const text = decodePercents(part, 'body-malformed', 'percent-encoded UTF-8 in the form')
  // Parsers of forms drop this name silently; refuse it instead.
  if (type === 'key' && text.includes('__proto__'))
    throw new Refusal('body-malformed', 'there is no field "__proto__"')
  return text
}

function parseParts(body: Uint8Array, contentType: string): Promise<[string, string][]> {
  return new Promise((resolve, reject) => {
    const fields: [string, string][] = []
    const malformed = (why: string) =>
      reject(new Refusal('body-malformed', `expected multipart/form-data: ${why}`))
    const parser = createParser(contentType)
    parser.on('field', (name: string | undefined, value) => {
      if (name === undefined) malformed('a part has no name')
      else fields.push([name, value])
    })
    parser.on('fieldsLimit', () => malformed(`more than ${limits.parameterLimit} fields`))
    parser.on('error', (error) => malformed(error instanceof Error ? error.message : String(error)))
    parser.on('finish', () => resolve(fields))
    parser.end(body)
  })
}

function createParser(contentType: string): InstanceType<typeof Busboy> {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      isPartAFile: () => false,
      limits: { fields: limits.parameterLimit },
    })
  } catch (error) {
    throw new Refusal('body-malformed', `expected multipart/form-data: ${(error as Error).message}`)
  }
}
