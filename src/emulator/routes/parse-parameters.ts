import { isUtf8 } from 'node:buffer'
import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import { maxBodyBytes, type EmulatorRequest } from './exchange.ts'
import { parseMultipart, parseUrlencoded } from './form-fields.ts'
import { Refusal } from './refusal.ts'

/**
 * The deepest item nests 5 levels; what is far beyond that is no configuration, and a danger to
 * whatever walks it.
 */
const depthLimit = 32

/**
 * The parameters in the body of a write: JSON, form-data or x-www-form-urlencoded; an empty body
 * has none (specification, "POST /domain/config"). Throws a Refusal for a body in which not even
 * the token can be read.
 */
export async function parseParameters(request: EmulatorRequest): Promise<JsonObject> {
  const { body, contentType = '', contentEncoding = 'identity' } = request
  if (body === 'too large') throw tooLarge()
  if (body.length === 0) return {}
  if (contentEncoding !== 'identity')
    throw new Refusal(
      'content-type-unknown',
      `expected a body without Content-Encoding, got "${contentEncoding}"`,
    )
  if (!isUtf8(body))
    throw new Refusal('body-malformed', 'expected a body in UTF-8, got other bytes')
  switch (mediaType(contentType)) {
    case 'application/json':
      return readJson(new TextDecoder().decode(body))
    case 'application/x-www-form-urlencoded':
      return withParsedConfig(parseUrlencoded(new TextDecoder().decode(body)))
    case 'multipart/form-data':
      return withParsedConfig(await parseMultipart(body, contentType))
    default:
      throw new Refusal(
        'content-type-unknown',
        `expected Content-Type application/json, multipart/form-data or application/x-www-form-urlencoded (in UTF-8), got "${contentType}"`,
      )
  }
}

/** Reads take their parameters from the query string and ignore a body, unless it is too large. */
export function refuseLargeBody({ body }: EmulatorRequest): void {
  if (body === 'too large') throw tooLarge()
}

/**
 * The body of a call of the control surface: JSON, whatever its content type says. Throws a Refusal
 * for anything else.
 */
export function parseControlBody({ body }: EmulatorRequest): JsonObject {
  if (body === 'too large') throw tooLarge()
  if (!isUtf8(body))
    throw new Refusal('body-malformed', 'expected a body in UTF-8, got other bytes')
  const value = parseJson(new TextDecoder().decode(body), 'the body')
  if (!isObject(value)) throw new Refusal('body-malformed', 'expected the body to be a JSON object')
  return value
}

function tooLarge(): Refusal {
  return new Refusal('body-too-large', `expected a body of at most ${maxBodyBytes} bytes`)
}

/** The media type; none where another charset than UTF-8 is named. */
function mediaType(contentType: string): string {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(contentType)?.[1]
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) return ''
  return (contentType.split(';')[0] ?? '').trim().toLowerCase()
}

function readJson(text: string): JsonObject {
  const value = parseJson(text, 'the body')
  if (!isObject(value))
    throw new Refusal(
      'body-malformed',
      'expected the body to be a JSON object with token, domains and config',
    )
  return value
}

/** A form has text only; `config` may stand in it as JSON. */
function withParsedConfig(fields: JsonObject): JsonObject {
  const { config } = fields
  return typeof config === 'string'
    ? { ...fields, config: parseJson(config, 'the field config') }
    : fields
}

function parseJson(text: string, where: string): Json {
  const value = parsed(text, where)
  if (depth(value) > depthLimit)
    throw new Refusal('body-malformed', `expected ${where} to nest at most ${depthLimit} levels`)
  return value
}

function parsed(text: string, where: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    // V8 quotes the text around the fault, which may be the token.
    const place = /at position \d+/.exec((error as Error).message)?.[0]
    throw new Refusal(
      'body-malformed',
      `expected ${where} to be JSON, it is malformed${place === undefined ? '' : ` ${place}`}`,
    )
  }
}

/** Levels of a value, counted without recursion. */
function depth(value: Json): number {
  let levels = 0
  let level: Json[] = [value]
  while (level.length > 0) {
    levels += 1
    if (levels > depthLimit) return levels
    level = level.flatMap((entry) =>
      typeof entry === 'object' && entry !== null ? Object.values(entry) : [],
    )
  }
  return levels
}
