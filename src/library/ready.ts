import { itemSpec } from '../catalog/catalogue.ts'
import { readItem } from '../catalog/read-item.ts'
import type { SecretVault } from '../manifest/secret-vault.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Plan } from '../model/plan.ts'
import { secretNames } from '../model/secret-keeper.ts'
import { isUnresolved, mapSecrets } from '../model/secret.ts'
import type { LoadedWorkspace } from './workspace.ts'

/**
 * Refuses a plan that can't be carried out as things stand, before anybody is asked and anything is sent.
 *
 * @throws EdgewiseError `access` when the token or the value of a secret is not at hand, `invalid` when a value is not valid
 */
export function refuseUnready({ config, vault }: LoadedWorkspace, planned: Plan): void {
  if (planned.writes.length === 0) return
  if (config.service.token === '' && config.service.url !== 'emulator') {
    throw new EdgewiseError(
      'access',
      `no token for ${config.service.url}`,
      'Set the environment variable that "service.token" in edgewise.yaml names (EDGEWISE_TOKEN).',
    )
  }
  refuseUnresolved(planned)
  refuseBadSecrets(planned, vault)
}

function refuseUnresolved({ writes }: Plan): void {
  const names = new Set<string>()
  for (const write of writes) {
    for (const form of Object.values(write.items)) {
      mapSecrets(form.payload, (secret) => {
        if (isUnresolved({ $secret: secret })) for (const name of namesIn(secret.slice('unresolved:'.length))) names.add(name)
        return null
      })
    }
  }
  if (names.size === 0) return
  const list = [...names].toSorted().join(', ')
  throw new EdgewiseError(
    'access',
    `the plan writes secrets whose values are not at hand: ${list}`,
    'Provide them as edgewise.yaml says under "secrets".',
  )
}

/** The names in what an unresolved secret was made from: a name, or a template around names. */
function namesIn(reference: string): string[] {
  const names = secretNames(reference)
  return names.length === 0 ? [reference] : names
}

/** Values of secrets are checked only now that they are known; what they are is not told. */
function refuseBadSecrets({ writes }: Plan, vault: SecretVault): void {
  for (const write of writes) {
    for (const [item, form] of Object.entries(write.items)) {
      let holds = false
      mapSecrets(form.payload, (secret) => {
        holds = true
        return { $secret: secret }
      })
      if (!holds) continue
      const [problem] = readItem(itemSpec(item), vault.reveal(form.payload), 'wire', write.domains[0] ?? '').problems
      if (problem === undefined) continue
      const names = Object.values(vault.templatesOf(form.payload)).join(', ') || 'written out in the manifest'
      throw new EdgewiseError(
        'invalid',
        `with the value of its secret (${names}) the item ${item} of ${write.domains[0] ?? ''} is not valid at ${problem.pointer || '/'}`,
        `See "edgewise explain ${item}" for what is expected there.`,
      )
    }
  }
}
