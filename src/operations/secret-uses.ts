import type { SecretVault } from '../manifest/secret-vault.ts'
import type { Write } from '../model/change.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Plan } from '../model/plan.ts'
import { mapSecrets } from '../model/secret.ts'
import { listReferencedNames } from '../model/secret-keeper.ts'

/** A secret in a write whose value is not at hand, or was recorded from a command. */
export interface SecretUse {
  write: Write
  domain: Domain
  item: ItemKey
  /** As it stands in the write: a fingerprint, or `unresolved:` and the reference. */
  secret: string
  /** A name, or a template around names. */
  reference: string
}

/**
 * Lists the secrets of a plan's writes whose values have to be had before they can be sent: those
 * that are unresolved, and those that stand in it with the fingerprint that is recorded for a
 * reference to a command.
 */
export function listSecretUses({ writes, references }: Plan, vault: SecretVault): SecretUse[] {
  const uses: SecretUse[] = []
  for (const write of writes) {
    for (const [item, form] of Object.entries(write.items)) {
      for (const secret of secretsIn(form.payload)) {
        for (const domain of write.domains) {
          const unresolved = /^unresolved:(.*)$/s.exec(secret)?.[1]
          const reference = unresolved ?? references?.get(domain)?.get(item)?.[secret]
          if (reference === undefined || !isOpen(secret, reference, vault)) continue
          uses.push({ write, domain, item, secret, reference })
        }
      }
    }
  }
  return uses
}

/** Whether what is sent for a secret of a write is not settled yet. */
function isOpen(secret: string, reference: string, vault: SecretVault): boolean {
  if (vault.listMissing(reference).length > 0) return true
  const fromCommand = listReferencedNames(reference).some((name) => vault.isCommand(name))
  return fromCommand && vault.resolve(reference).$secret !== secret
}

function secretsIn(payload: Write['items'][ItemKey]['payload']): Set<string> {
  const secrets = new Set<string>()
  mapSecrets(payload, (secret) => {
    secrets.add(secret)
    return null
  })
  return secrets
}
