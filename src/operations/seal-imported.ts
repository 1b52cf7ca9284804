import { catalogue, getItemSpec } from '../catalog/catalogue.ts'
import { listRecordedSecrets, representSecretsIn, type Represent } from '../diff/known-secrets.ts'
import type { ImportedItem } from '../model/item.ts'
import { holdsSecret } from '../model/secret.ts'
import type { RecordedState } from '../state/store.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import type { ParsedPayload } from './parse-import.ts'

/**
 * Seals the secrets of imported payloads, and returns them in canonical form. Secrets at the places
 * of recorded ones have the form in which these can be compared with them.
 */
export function sealImported(
  payloads: ParsedPayload[],
  recorded: RecordedState,
  { desired, vault }: Pick<LoadedWorkspace, 'desired' | 'vault'>,
): ImportedItem[] {
  const represent: Represent = (secret, known) => vault.represent(secret, known)
  return payloads.map(({ domain, item, payload }) => {
    if (!catalogue.has(item)) return { domain, item, value: null }
    const models = desired.get(domain)?.get(item)?.candidates ?? []
    const value = getItemSpec(item).canonicalize(vault.mask(item, payload, models))
    const state = recorded.get(domain)?.get(item)
    const sealed = vault.mask(item, value, state?.candidates ?? [])
    const known = listRecordedSecrets(state)
    return {
      domain,
      item,
      value: holdsSecret(sealed) ? representSecretsIn(item, sealed, known, represent) : value,
    }
  })
}

/** Minimum length of a value that is looked for: a shorter one could be any text. */
const minLength = 8

/**
 * Looks up the available secrets that no manifest refers to, so that imported values become
 * references to them.
 */
export function lookUpSecrets({ config, vault }: Pick<LoadedWorkspace, 'config' | 'vault'>): void {
  for (const name of Object.keys(config.secrets)) {
    const [value = ''] = vault.listMissing(name).length > 0 ? [] : (vault.findAll([name]) ?? [])
    if (value.length >= minLength) vault.refer(`\${secret:${name}}`)
  }
}
