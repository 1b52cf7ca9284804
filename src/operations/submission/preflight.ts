import type { Settings, Secrets } from '../runtime/parts.ts'
import { getItemSpec } from '../../core/catalog/catalogue.ts'
import { parseItem } from '../../core/catalog/parse-item.ts'
import type { SecretVault } from '../../manifest/secrets/secret-vault.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Plan } from '../../core/model/plan.ts'
import {
  findReference,
  listReferencedNames,
  listSecrets,
  mapSecrets,
} from '../../core/model/secret.ts'
import { refuseBadToken } from '../runtime/connect.ts'
import type { Write } from '../../core/model/change.ts'
import type { Domain, ItemKey } from '../../core/model/item.ts'

/**
 * Checks, before consent, that a plan can be sent: the token and the secrets. Secrets from commands
 * are checked later, by `resolveForSend`.
 *
 * @throws EdgewiseError `access` when the token or the value of a secret is not usable,
 * `invalid` when a value is not valid
 */
export function runPreflight(workspace: Settings & Secrets, planned: Plan): void {
  const { vault } = workspace
  if (planned.writes.length === 0) return
  refuseBadToken(workspace)
  refuseUnresolved(planned, vault)
  refuseInvalidSecrets(planned, vault)
}

function refuseUnresolved(planned: Plan, vault: SecretVault): void {
  const names = new Set<string>()
  for (const { reference } of listSecretUses(planned, vault)) {
    for (const name of vault.listMissing(reference)) if (!vault.isCommand(name)) names.add(name)
  }
  const reasons = [...names].toSorted().map((name) => `secret ${name}: ${vault.explain(name)}`)
  const [first, ...others] = reasons
  if (first === undefined) return
  const advice =
    'Nothing was sent. Provide what is missing, or select other items with --target and --item.'
  if (others.length === 0) throw new EdgewiseError('access', first, advice)
  const list = [...names].toSorted().join(', ')
  throw new EdgewiseError(
    'access',
    `the plan writes secrets whose values are not available: ${list}`,
    [...reasons, advice].join('\n'),
  )
}

/**
 * Rejects secret values that are not valid in their items, without showing them. Values from
 * commands are checked once they are known.
 *
 * @throws EdgewiseError `invalid`
 */
export function refuseInvalidSecrets(planned: Plan, vault: SecretVault): void {
  const unresolved = new Set(
    listSecretUses(planned, vault)
      // A plan file leaves secrets unresolved whose values are available by now.
      .filter(({ secret, reference }) => {
        return findReference(secret) === null || vault.listMissing(reference).length > 0
      })
      .map(({ write, item }) => `${write.id} ${item}`),
  )
  for (const write of planned.writes) {
    for (const [item, form] of Object.entries(write.items)) {
      let hasSecret = false
      const payload = mapSecrets(form.payload, (secret) => {
        hasSecret = true
        const reference = findReference(secret)
        return { $secret: reference === null ? secret : vault.represent(secret) }
      })
      if (!hasSecret || unresolved.has(`${write.id} ${item}`)) continue
      const [problem] = parseItem(getItemSpec(item), vault.reveal(payload), 'wire').problems
      if (problem === undefined) continue
      const names =
        Object.values(vault.listTemplates(payload)).join(', ') || 'a literal in the manifest'
      throw new EdgewiseError(
        'invalid',
        `the item ${item} of ${write.domains[0] ?? ''} is not valid ` +
          `at ${problem.pointer || '/'} with the value of its secret (${names})`,
        `See "edgewise explain ${item}" for what is expected there.`,
      )
    }
  }
}

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
      for (const secret of listSecrets([form.payload])) {
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
