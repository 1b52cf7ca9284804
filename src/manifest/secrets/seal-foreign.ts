import type { ItemSpec } from '../../core/catalog/item-spec.ts'
import { findSecretFields } from '../../core/catalog/parse-item.ts'
import { listFieldNames } from '../../core/catalog/value/item-schema.ts'
import { formatPointerStep, isObject, type Json, type JsonObject } from '../../core/model/json.ts'
import { isSecret, type Secret } from '../../core/model/secret.ts'

/** Secrets of a vault, for sealing what a service returned. */
export interface Seals {
  /** Finds the secret of a text that was sent; undefined for other texts. */
  find(text: string): Secret | undefined
  /** Creates the secret that replaces a text. */
  seal(text: string): Secret
  /** Tests whether a text may quote a secret, in any form. */
  isQuoted(text: string): boolean
  /** Removes secrets from the name of an unknown field. */
  scrub(name: string): string
}

/**
 * Seals a value of an item that came from the service: each scalar in a secret field, at a place
 * where a model has a secret, or that quotes one. A scalar that a model shows in plain at its place
 * stays plain.
 *
 * @param models values of the item that may have secrets: what was sent, recorded or desired
 */
export function sealForeign(spec: ItemSpec, value: Json, models: Json[], seals: Seals): Json {
  const places = collectPlaces(models)
  const names = listFieldNames(spec.schema)
  const always = new Set(findSecretFields(spec, value).map(({ pointer }) => pointer))
  // A short number may equal a part of a secret by chance.
  const isQuoted = (node: Json, text: string) =>
    (typeof node === 'string' || text.length >= minDigits) && seals.isQuoted(text)
  const sealNode = (node: Json, pointer: string, place: string): Json => {
    if (isSecret(node)) return node
    const { isSecretPlace = false, shown } = places.get(place) ?? {}
    if (Array.isArray(node))
      return isSecretPlace
        ? sealWhole(node, seals)
        : node.map((entry, i) => sealNode(entry, `${pointer}/${i}`, `${place}/*`))
    if (isObject(node))
      return isSecretPlace
        ? sealWhole(node, seals)
        : mapFields(node, (field, key) => [
            names.has(key) ? key : seals.scrub(key),
            sealNode(field, `${pointer}/${key}`, place + formatPointerStep(key)),
          ])
    if (node === null) return node
    const text = String(node)
    const isShown = shown?.has(text) === true
    if (isShown && !isSecretPlace) return node
    const known = typeof node === 'string' ? seals.find(text) : undefined
    if (known !== undefined) return { ...known }
    if (isShown) return node
    const isHidden = isSecretPlace || always.has(pointer) || isQuoted(node, text)
    return isHidden ? { ...seals.seal(text) } : node
  }
  return sealNode(value, '', '')
}

/** Minimum length of a number that may quote a secret. */
const minDigits = 8

/**
 * Seals the parts of a sealed value whose structure differs from every model that has a secret in
 * them: the secret may be anywhere in such a part.
 */
function sealStructure(value: Json, models: Json[], seals: Pick<Seals, 'seal'>): Json {
  const places = collectPlaces(models)
  const sealNode = (node: Json, place: string): Json => {
    const known = places.get(place)
    if (node === null || isSecret(node) || known?.enclosesSecret !== true) return node
    if (Array.isArray(node) && known.isList)
      return node.map((entry) => sealNode(entry, `${place}/*`))
    if (isObject(node) && Object.keys(node).every((key) => known.keys.has(key)))
      return mapFields(node, (field, key) => [key, sealNode(field, place + formatPointerStep(key))])
    return sealWhole(node, seals)
  }
  return sealNode(value, '')
}

/**
 * Replaces each object of a foreign value that has the form of a sealed secret with the text in it:
 * a service can't seal, but it can return a secret in this form.
 */
export function unsealForeign(value: Json): Json {
  if (Array.isArray(value)) return value.map(unsealForeign)
  if (!isObject(value)) return value
  const plain = mapFields(value, (field, key) => [key, unsealForeign(field)])
  return isSecret(plain) ? plain.$secret : plain
}

/** Maximum number of secrets that replace one answer: each takes time to compute. */
const maxSeals = 64

/**
 * Seals an answer to a write, including the parts with another structure. An answer with very many
 * secrets is sealed as a whole.
 */
export function sealAnswer(spec: ItemSpec, value: Json, models: Json[], seals: Seals): Json {
  const sealAll = (own: Seals) => sealStructure(sealForeign(spec, value, models, own), models, own)
  const texts = new Set<string>()
  const seal = (text: string) => {
    texts.add(text)
    return { $secret: '' }
  }
  sealAll({ ...seals, seal })
  return texts.size > maxSeals ? sealWhole(value, seals) : sealAll(seals)
}

/** Seals a list or an object as one secret. */
function sealWhole(node: Json, { seal }: Pick<Seals, 'seal'>): Json {
  return { ...seal(JSON.stringify(node)) }
}

/** Nodes of the models at a place: a pointer in which `*` stands for any list entry. */
interface ModelPlace {
  isSecretPlace: boolean
  enclosesSecret: boolean
  isList: boolean
  keys: Set<string>
  /** Scalars in plain. */
  shown: Set<string>
}

function collectPlaces(models: Json[]): Map<string, ModelPlace> {
  const places = new Map<string, ModelPlace>()
  for (const model of models) collectPlace(model, '', places)
  return places
}

/** Collects a node and what is in it. Returns whether it has a secret. */
function collectPlace(node: Json, place: string, places: Map<string, ModelPlace>): boolean {
  const known = places.get(place) ?? {
    isSecretPlace: false,
    enclosesSecret: false,
    isList: false,
    keys: new Set<string>(),
    shown: new Set<string>(),
  }
  places.set(place, known)
  if (isSecret(node)) {
    known.isSecretPlace = true
    return true
  }
  let hasSecret = false
  if (Array.isArray(node)) {
    known.isList = true
    for (const entry of node) hasSecret = collectPlace(entry, `${place}/*`, places) || hasSecret
  } else if (isObject(node)) {
    for (const [key, field] of Object.entries(node)) {
      known.keys.add(key)
      hasSecret = collectPlace(field, place + formatPointerStep(key), places) || hasSecret
    }
  } else known.shown.add(String(node))
  known.enclosesSecret ||= hasSecret
  return hasSecret
}

function mapFields(
  node: JsonObject,
  map: (field: Json, key: string) => [key: string, field: Json],
): JsonObject {
  return Object.fromEntries(Object.entries(node).map(([key, field]) => map(field, key)))
}
