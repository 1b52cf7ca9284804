import type {
  Comparable,
  Configured,
  Desired,
  Outside,
  Secrets,
  Settings,
} from '../runtime/parts.ts'
import { isAcceleratedDomain, suggestName } from '../../core/catalog/value/formats.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { groupDomains } from '../../core/model/lists.ts'
import { limitProblems } from '../../core/model/problem.ts'
import { listSome, pluralize } from '../../core/model/text/words.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'
import { buildGitEnvironment } from '../../state/git/git-environment.ts'
import { createCommitTest } from '../../state/git/open-place.ts'
import type { RecordedState } from '../../state/store/store.ts'
import type { ImportSource } from './import-file.ts'
import { parseImports, type ParsedImports, type ParsedPayload } from './parse-import.ts'
import { getItemSpec } from '../../core/catalog/catalogue.ts'
import { forgetHidden } from '../../core/catalog/hidden-fields.ts'
import { isRecordedValue, orderSets } from '../../core/catalog/item-spec.ts'
import {
  listRecordedSecrets,
  representSecretsIn,
  type Represent,
} from '../../core/diff/known-secrets.ts'
import type { ImportedItem } from '../../core/model/item.ts'
import { type SecretHider, holdsSecret } from '../../core/model/secret.ts'
import { markForeign } from '../../core/model/text/text-makers.ts'

/**
 * Loads the payloads of import files, and the names of files without any.
 *
 * @param domain domain of an answer that names none
 * @param recorded as for `parseImports`
 * @throws EdgewiseError `usage` with the problems of all files
 */
export function loadPayloads(
  workspace: Comparable,
  sources: ImportSource[],
  domain: string | undefined,
  recorded: RecordedState,
): Omit<ParsedImports, 'diagnostics'> {
  if (domain !== undefined && !isAcceleratedDomain(domain.toLowerCase()))
    throw new EdgewiseError(
      'usage',
      `--domain "${domain}" is not a domain name${suggestName(domain)}`,
    )
  const { diagnostics, ...parsed } = parseImports(sources, domain, workspace, recorded)
  if (diagnostics.length === 0) return parsed
  const listed = limitProblems(diagnostics)
  const files = [...new Set(diagnostics.map(({ file }) => file))]
  throw new EdgewiseError(
    'usage',
    `${listSome(files)} can't be imported: ${pluralize(diagnostics.length, 'problem')}; ` +
      'nothing was recorded',
    'Expected {"<domain>": {"<item>": payload}}, or an answer of the service.',
    listed,
  )
}

/** Warns of files that may hold secrets, and that git would add to the repository. */
export function listExposedFiles(
  { root, config }: Settings,
  sources: ImportSource[],
  { env }: Outside,
): string[] {
  const isCommitted = createCommitTest(root, buildGitEnvironment(env, config.service.token))
  const exposed = sources.filter(({ path }) => path !== undefined && isCommitted(path))
  if (exposed.length === 0) return []
  const [are, it] = exposed.length === 1 ? ['is', 'it'] : ['are', 'they']
  const them = exposed.length === 1 ? 'it' : 'them'
  return [
    `${listSome(exposed.map(({ name }) => escapeInvisible(name)))} ${are} in the repository and ` +
      `git does not ignore ${them}, but ${it} may contain secrets. ` +
      `Move ${them} out of the repository or add ${them} to .gitignore.`,
  ]
}

/** Describes the items that were skipped since they can't be imported, equal ones as one. */
export function describeInvalid(
  invalid: ParsedImports['invalid'],
  scrub: SecretHider['scrub'],
): string[] {
  const describe = ({ item, reason }: (typeof invalid)[number]) =>
    (item === '*' ? '' : `${item}: `) + reason
  return groupDomains(invalid, describe).map(({ first, domains }) =>
    escapeInvisible(
      `${scrub(markForeign(describe(first)))} (${listSome(domains)}); it was not imported`,
    ),
  )
}

/**
 * Seals the secrets of imported payloads, and returns them in canonical form. Secrets at the places
 * of recorded ones have the form in which these can be compared with them.
 */
export function sealImported(
  payloads: ParsedPayload[],
  recorded: RecordedState,
  { desired, vault }: Desired & Secrets,
): ImportedItem[] {
  const represent: Represent = (secret, known) => vault.represent(secret, known)
  return payloads.map(({ domain, item, payload, unknownFields, notShown }) => {
    if (payload === null) return { domain, item, value: null }
    const models = desired.get(domain)?.get(item)?.candidates ?? []
    const spec = getItemSpec(item)
    const value = spec.canonicalize(vault.mask(item, payload, models, 'foreign'))
    const state = recorded.get(domain)?.get(item)
    const sealed = vault.mask(item, value, state?.candidates ?? [], 'foreign')
    const known = listRecordedSecrets(state)
    const final = holdsSecret(sealed) ? representSecretsIn(item, sealed, known, represent) : value
    const isKnown = [state?.candidates[0], state?.returned].some(
      (each) => each !== undefined && isRecordedValue(spec, each, final),
    )
    const sure = isKnown ? { value: final, unknownFields } : forgetHidden(spec, final, notShown)
    return {
      domain,
      item,
      ordered: orderSets(spec, final, [payload]),
      ...sure,
    }
  })
}

/** Minimum length of a value that is looked for: a shorter one could be any text. */
const minLength = 8

/**
 * Looks up the available secrets that no manifest refers to, so that imported values become
 * references to them.
 */
export function lookUpSecrets({ config, vault }: Configured & Secrets): void {
  for (const name of Object.keys(config.secrets)) {
    const [value = ''] = vault.listMissing(name).length > 0 ? [] : (vault.findAll([name]) ?? [])
    if (value.length >= minLength) vault.refer(`\${secret:${name}}`)
  }
}
