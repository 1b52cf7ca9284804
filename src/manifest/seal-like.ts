import { isObject, formatPointerStep, type Json } from '../model/json.ts'
import { isSecret, type Secret } from '../model/secret.ts'

/**
 * A value in which every text is sealed that stands where a like value holds a secret in any entry
 * of its lists: an origin header that was secret here is secret in whatever somebody made of it.
 * Texts that the like values show openly stay.
 *
 * @param seal what stands for a text
 */
export function sealLike(value: Json, likes: Json[], seal: (text: string) => Secret): Json {
  const secret = new Set<string>()
  const open = new Set<string>()
  for (const like of likes) visit(like, '', secret, open)
  return secret.size === 0
    ? value
    : sealed(value, '', (text, place) => secret.has(place) && !open.has(`${place} ${text}`), seal)
}

/** Places are pointers in which `*` stands for any entry of a list. */
function visit(value: Json, place: string, secret: Set<string>, open: Set<string>): void {
  if (isSecret(value)) secret.add(place)
  else if (typeof value === 'string') open.add(`${place} ${value}`)
  else if (Array.isArray(value)) for (const entry of value) visit(entry, `${place}/*`, secret, open)
  else if (isObject(value))
    for (const [key, field] of Object.entries(value))
      visit(field, place + formatPointerStep(key), secret, open)
}

function sealed(
  value: Json,
  place: string,
  hides: (text: string, place: string) => boolean,
  seal: (text: string) => Secret,
): Json {
  if (isSecret(value)) return value
  if (typeof value === 'string')
    return hides(value, place) ? { $secret: seal(value).$secret } : value
  if (Array.isArray(value)) return value.map((entry) => sealed(entry, `${place}/*`, hides, seal))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key,
      sealed(field, place + formatPointerStep(key), hides, seal),
    ]),
  )
}
