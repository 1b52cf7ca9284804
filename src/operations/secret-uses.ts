import type { SecretVault } from '../manifest/secret-vault.ts'
import type { Write } from '../model/change.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Plan } from '../model/plan.ts'
import { findReference, mapSecrets } from '../model/secret.ts'
import { listReferencedNames } from '../model/secret-keeper.ts'

/** Secret in a write that is unresolved, or was recorded from a command. */
export interface SecretUse {
  write: Write
  domain: Domain
  item: ItemKey
  /** Placeholder in the write: a fingerprint, or `unresolved:` and the reference. */
  secret: string
  /** A name, or a template around names. */
  reference: string
}

/**
 * Lists the secrets of a plan's writes that need a value before sending: unresolved secrets, and
 * recorded fingerprints whose reference is a command.
 */
export function listSecretUses({ writes, references }: Plan, vault: SecretVault): SecretUse[] {
  const uses: SecretUse[] = []
  for (const write of writes) {
    for (const [item, form] of Object.entries(write.items)) {
      for (const secret of collectSecrets(form.payload)) {
        for (const domain of write.domains) {
          const unresolved = findReference(secret)
          const reference = unresolved ?? references?.get(domain)?.get(item)?.[secret]
          if (reference === undefined) continue
          if (unresolved === null && !needsValue(secret, reference, vault)) continue
          uses.push({ write, domain, item, secret, reference })
        }
      }
    }
  }
  return uses
}

/** Returns whether the value to send for a recorded secret is not known yet. */
function needsValue(secret: string, reference: string, vault: SecretVault): boolean {
  if (vault.listMissing(reference).length > 0) return true
  const fromCommand = listReferencedNames(reference).some((name) => vault.isCommand(name))
  return fromCommand && !vault.isSame(secret, reference)
}

function collectSecrets(payload: Write['items'][ItemKey]['payload']): Set<string> {
  const secrets = new Set<string>()
  mapSecrets(payload, (secret) => {
    secrets.add(secret)
    return null
  })
  return secrets
}
