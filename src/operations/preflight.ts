import { getItemSpec } from '../catalog/catalogue.ts'
import { parseItem } from '../catalog/parse-item.ts'
import type { SecretVault } from '../manifest/secret-vault.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Plan } from '../model/plan.ts'
import { findReference, mapSecrets } from '../model/secret.ts'
import { refuseBadToken } from './connect.ts'
import { listSecretUses } from './secret-uses.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

/**
 * Checks, before consent, that a plan can be sent: the token and the secrets. Secrets from commands
 * are checked later, by `resolveForSend`.
 *
 * @throws EdgewiseError `access` when the token or the value of a secret is not usable,
 * `invalid` when a value is not valid
 */
export function runPreflight(workspace: LoadedWorkspace, planned: Plan): void {
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
      const [problem] = parseItem(
        getItemSpec(item),
        vault.reveal(payload),
        'wire',
        write.domains[0] ?? '',
      ).problems
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
