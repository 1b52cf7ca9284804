import { isObject, formatPointerStep, type Json } from '../model/json.ts'
import { isSecret, type Secret } from '../model/secret.ts'

/**
 * Seals every text of a value at whose place one of the models has a secret, in any entry of its
 * lists: an origin header that was secret before stays secret with any new value. Texts that the
 * models show in plain stay plain.
 *
 * @param seal returns the secret that replaces a text
 */
export function sealLike(value: Json, models: Json[], seal: (text: string) => Secret): Json {
  const secret = new Set<string>()
  const shown = new Set<string>()
  for (const model of models) collectTexts(model, '', secret, shown)
  return secret.size === 0
    ? value
    : sealValue(
        value,
        '',
        (text, place) => secret.has(place) && !shown.has(`${place} ${text}`),
        seal,
      )
}

/** Collects secrets and plain texts by place: a pointer in which `*` stands for any list entry. */
function collectTexts(value: Json, place: string, secret: Set<string>, shown: Set<string>): void {
  if (isSecret(value)) secret.add(place)
  else if (typeof value === 'string') shown.add(`${place} ${value}`)
  else if (Array.isArray(value))
    for (const entry of value) collectTexts(entry, `${place}/*`, secret, shown)
  else if (isObject(value))
    for (const [key, field] of Object.entries(value))
      collectTexts(field, place + formatPointerStep(key), secret, shown)
}

function sealValue(
  value: Json,
  place: string,
  isHidden: (text: string, place: string) => boolean,
  seal: (text: string) => Secret,
): Json {
  if (isSecret(value)) return value
  if (typeof value === 'string')
    return isHidden(value, place) ? { $secret: seal(value).$secret } : value
  if (Array.isArray(value))
    return value.map((entry) => sealValue(entry, `${place}/*`, isHidden, seal))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key,
      sealValue(field, place + formatPointerStep(key), isHidden, seal),
    ]),
  )
}
