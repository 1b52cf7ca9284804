import { isUtf8 } from 'node:buffer'
import { isObject, type Json, type JsonObject } from '../../core/model/json.ts'
import { maxBodyBytes, type EmulatorRequest } from './exchange.ts'
import { parseMultipart, parseUrlencoded } from './form-fields.ts'
import { Refusal } from './refusal.ts'

/**
 * Maximum depth of a body. The deepest item nests 5 levels; far deeper values are not
 * configurations and would endanger recursive code.
 */
const maxDepth = 32

/**
 * Parses the parameters in the body of a write: JSON, form-data or x-www-form-urlencoded; an empty
 * body has none (specification, "POST /domain/config"). Throws a Refusal for a body in which not
 * even the token can be parsed.
 */
export async function parseParameters(request: EmulatorRequest): Promise<JsonObject> {
  const { body, contentType = '', contentEncoding = 'identity' } = request
  if (body === 'too large') throw createTooLargeRefusal()
  if (body.length === 0) return {}
  if (contentEncoding !== 'identity')
    throw new Refusal(
      'content-type-unknown',
      `expected a body without Content-Encoding, got "${contentEncoding}"`,
    )
  const text = decode(body)
  switch (parseMediaType(contentType)) {
    case 'application/json':
      return parseObject(text, ' with token, domains and config')
    case 'application/x-www-form-urlencoded':
      return parseNestedConfig(parseUrlencoded(text))
    case 'multipart/form-data':
      return parseNestedConfig(await parseMultipart(body, contentType))
    default:
      throw new Refusal(
        'content-type-unknown',
        'expected Content-Type application/json, multipart/form-data or ' +
          `application/x-www-form-urlencoded (in UTF-8), got "${contentType}"`,
      )
  }
}

/**
 * Refuses a body that is too large. Queries have their parameters in the query string and ignore
 * any other body.
 */
export function refuseLargeBody({ body }: EmulatorRequest): void {
  if (body === 'too large') throw createTooLargeRefusal()
}

/**
 * Parses the body of a call of the control surface: JSON, also by its type, which a web page can't
 * set without permission. Throws a Refusal for anything else.
 */
export function parseControlBody({ body, contentType = '' }: EmulatorRequest): JsonObject {
  if (body === 'too large') throw createTooLargeRefusal()
  if (body.length > 0 && parseMediaType(contentType) !== 'application/json')
    throw new Refusal(
      'content-type-unknown',
      `expected Content-Type application/json (in UTF-8), got "${contentType}"`,
    )
  return parseObject(decode(body), '')
}

function decode(body: Uint8Array): string {
  if (isUtf8(body)) return new TextDecoder().decode(body)
  throw new Refusal('body-malformed', 'expected a body in UTF-8, got other bytes')
}

function createTooLargeRefusal(): Refusal {
  return new Refusal('body-too-large', `expected a body of at most ${maxBodyBytes} bytes`)
}

/** Parses the media type; empty for another charset than UTF-8. */
function parseMediaType(contentType: string): string {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(contentType)?.[1]
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) return ''
  return (contentType.split(';')[0] ?? '').trim().toLowerCase()
}

function parseObject(text: string, content: string): JsonObject {
  const value = parseJson(text, 'the body')
  if (isObject(value)) return value
  throw new Refusal('body-malformed', `expected the body to be a JSON object${content}`)
}

/** Parses `config` if it is JSON text in a form. */
function parseNestedConfig(fields: JsonObject): JsonObject {
  const { config } = fields
  return typeof config === 'string'
    ? { ...fields, config: parseJson(config, 'the field config') }
    : fields
}

function parseJson(text: string, where: string): Json {
  const value = parseUnbounded(text, where)
  if (countLevels(value) > maxDepth)
    throw new Refusal('body-malformed', `expected ${where} to nest at most ${maxDepth} levels`)
  return value
}

function parseUnbounded(text: string, where: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    // V8 quotes the text around the error, which may be the token.
    const place = /at position \d+/.exec((error as Error).message)?.[0]
    throw new Refusal(
      'body-malformed',
      `expected ${where} to be JSON, it is malformed${place === undefined ? '' : ` ${place}`}`,
    )
  }
}

/** Counts the levels of a value, without recursion. */
function countLevels(value: Json): number {
  let levels = 0
  let level: Json[] = [value]
  while (level.length > 0) {
    levels += 1
    if (levels > maxDepth) return levels
    level = level.flatMap((entry) =>
      typeof entry === 'object' && entry !== null ? Object.values(entry) : [],
    )
  }
  return levels
}
