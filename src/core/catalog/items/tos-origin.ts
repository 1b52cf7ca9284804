import type { TosOrigin } from '../generated/items.ts'
import { isObject, type Json } from '../../model/json.ts'
import type { Plain } from '../../model/secret.ts'
import type { Problem } from '../../model/problem.ts'
import { castPlain, type ItemRow } from '../item-spec.ts'
import { warn, describeMissingField, describeRefusal } from '../problems.ts'
import { canonicalizeAddress, isAddress, isDomain } from '../value/formats.ts'
import { createFormatProblem } from '../value/schema-problems.ts'

type Group = Plain<TosOrigin>[number]

/** Origin groups by carrier, with object-storage authentication (specification, "tos_origin"). */
export const tosOrigin: ItemRow = {
  identity: ['isp'],
  check: (value) => {
    const groups = castPlain<TosOrigin>(value)
    const problems = groups.flatMap(checkGroup)
    if (!groups.some((group) => group.isp === 'default')) {
      problems.push(describeRefusal('', 'expected at least one group for the carrier "default"'))
    }
    return problems
  },
  tidy: (value) => (Array.isArray(value) ? value.map(canonicalizeHost) : value),
}

/** Canonicalizes the host. Its schema can't declare an address, since the host may be empty. */
function canonicalizeHost(group: Json): Json {
  return isObject(group) && typeof group['host'] === 'string'
    ? { ...group, host: canonicalizeAddress(group['host']) }
    : group
}

function checkGroup(group: Group, i: number): Problem[] {
  const problems: Problem[] = []
  const kinds = new Set(group.ips.map(isAddress))
  if (kinds.size > 1)
    problems.push(
      describeRefusal(
        `/${i}/ips`,
        'expected IP addresses only or domains only, got both in one group',
      ),
    )
  if (group.host_mode === 'custom' && (group.host ?? '') === '') {
    problems.push(
      describeMissingField(`/${i}`, 'with host_mode "custom" the field "host" is required'),
    )
  }
  const { host = '' } = group
  if (host !== '' && !isAddress(host) && !isDomain(host))
    problems.push(createFormatProblem(`/${i}/host`, 'address', host))
  return [...problems, ...findIdleFields(group, i)]
}

/** Finds fields that have no effect with the modes of the group. */
function findIdleFields(group: Group, i: number): Problem[] {
  const { origin_mode = 'default', host_mode = 'default', auth_type = 'default' } = group
  const idle: [keyof Group, boolean, string][] = [
    ['protocol', origin_mode !== 'custom', 'origin_mode "custom"'],
    ['port', origin_mode !== 'custom', 'origin_mode "custom"'],
    ['host', host_mode !== 'custom', 'host_mode "custom"'],
    ['auth_bucket_name', auth_type !== 'oss', 'auth_type "oss"'],
    ['auth_expire', auth_type !== 'tos', 'auth_type "tos"'],
    ['auth_cdn_tag', auth_type !== 'tos', 'auth_type "tos"'],
    ['auth_secret_key', auth_type === 'default', 'auth_type "oss" or "tos"'],
    ['auth_access_key', auth_type === 'default', 'auth_type "oss" or "tos"'],
  ]
  const warnings = idle.flatMap(([field, without, need]) =>
    group[field] !== undefined && without
      ? [warn(`/${i}/${field}`, `"${field}" has an effect only with ${need}`)]
      : [],
  )
  const lacksKeys =
    auth_type !== 'default' &&
    (group.auth_secret_key === undefined || group.auth_access_key === undefined)
  return lacksKeys
    ? [
        ...warnings,
        warn(
          `/${i}/auth_type`,
          `auth_type "${auth_type}" needs auth_access_key and auth_secret_key`,
        ),
      ]
    : warnings
}
