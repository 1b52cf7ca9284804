import { getItemSpec } from '../catalog/catalogue.ts'
import { parseItem } from '../catalog/parse-item.ts'
import type { SecretVault } from '../manifest/secret-vault.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Plan } from '../model/plan.ts'
import { mapSecrets } from '../model/secret.ts'
import { listSecretUses } from './secret-uses.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

/**
 * Refuses a plan that can't be carried out as things stand, before anybody is asked and anything is
 * sent. Secrets that a command gives are looked at after that, by `resolveForSend`.
 *
 * @throws EdgewiseError `access` when the token or the value of a secret is not at hand, `invalid`
 * when a value is not valid
 */
export function runPreflight({ config, vault }: LoadedWorkspace, planned: Plan): void {
  if (planned.writes.length === 0) return
  if (config.service.token === '' && config.service.url !== 'emulator') {
    throw new EdgewiseError(
      'access',
      `no token for ${config.service.url}`,
      'Set the environment variable that "service.token" in edgewise.yaml names (EDGEWISE_TOKEN).',
    )
  }
  refuseUnresolved(planned, vault)
  refuseInvalidSecrets(planned, vault)
}

function refuseUnresolved(planned: Plan, vault: SecretVault): void {
  const names = new Set<string>()
  for (const { reference } of listSecretUses(planned, vault)) {
    for (const name of vault.listMissing(reference)) if (!vault.isCommand(name)) names.add(name)
  }
  if (names.size === 0) return
  const list = [...names].toSorted()
  const reasons = list.map((name) => `${name}: ${vault.explain(name)}.`).join('\n')
  throw new EdgewiseError(
    'access',
    `the plan writes secrets whose values are not at hand: ${list.join(', ')}`,
    `${reasons}\nProvide them as edgewise.yaml says under "secrets".`,
  )
}

/**
 * Refuses values of secrets that are not valid where they stand; what they are is not shown. What
 * a command gives is checked once it is known.
 *
 * @throws EdgewiseError `invalid`
 */
export function refuseInvalidSecrets(planned: Plan, vault: SecretVault): void {
  const later = new Set(
    listSecretUses(planned, vault).map(({ write, item }) => `${write.id} ${item}`),
  )
  for (const write of planned.writes) {
    for (const [item, form] of Object.entries(write.items)) {
      let holds = false
      mapSecrets(form.payload, (secret) => {
        holds = true
        return { $secret: secret }
      })
      if (!holds || later.has(`${write.id} ${item}`)) continue
      const [problem] = parseItem(
        getItemSpec(item),
        vault.reveal(form.payload),
        'wire',
        write.domains[0] ?? '',
      ).problems
      if (problem === undefined) continue
      const names =
        Object.values(vault.listTemplates(form.payload)).join(', ') || 'written out in the manifest'
      throw new EdgewiseError(
        'invalid',
        `with the value of its secret (${names}) the item ${item} of ${write.domains[0] ?? ''} is not valid at ${problem.pointer || '/'}`,
        `See "edgewise explain ${item}" for what is expected there.`,
      )
    }
  }
}
