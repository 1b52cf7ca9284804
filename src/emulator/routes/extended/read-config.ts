import type { ItemKey, Value } from '../../../core/model/item.ts'
import { pickDefined, setOwn, type Json, type JsonObject } from '../../../core/model/json.ts'
import { buildReadForm } from '../../entities/read-form.ts'
import { openBody, openQuery } from '../authenticate.ts'
import type { Incoming } from '../route.ts'
import { parseDomains } from '../parse-domains.ts'
import { Refusal } from '../refusal.ts'
import type { WireNames } from '../wire-names.ts'
import type { ExtendedContext } from './context.ts'

/**
 * Answers the stored configuration of domains, of the items in `config[]` or of all. The parameters
 * are in the query, or in a body. Leaves unknown domains out. Adds its domains and items to `call`.
 * Throws a Refusal: token first, then call rate and parameters.
 */
export async function readConfig(
  { request, call }: Incoming,
  { store, rules, limits }: ExtendedContext,
): Promise<Json> {
  const { domains, config } = await openParameters(request, rules)
  limits.config.admit(rules.now())
  const wanted = parseItemList(config, rules.names)
  call.items = wanted ?? []
  call.domains = parseDomains(domains)
  return {
    code: 0,
    data: call.domains
      .filter((domain) => store.hasDomain(domain))
      .map((domain) => ({
        domain,
        domain_id: store.getId(domain),
        config: formatConfig(store.getItems(domain), wanted, rules.names),
      })),
  }
}

async function openParameters(
  request: Incoming['request'],
  rules: ExtendedContext['rules'],
): Promise<{ domains?: Json; config?: Json }> {
  if (request.body.length > 0) return openBody(request, rules)
  const query = openQuery(request, rules)
  const [domains, config] = [query.get('domains'), listEntries(query, request.query)]
  return pickDefined({ domains, config })
}

/**
 * Parses the names of items. Throws a Refusal for anything but a list of known names; null for no
 * list at all.
 */
export function parseItemList(config: Json | undefined, names: WireNames): ItemKey[] | null {
  if (config === undefined) return null
  if (!Array.isArray(config))
    throw new Refusal('config-not-list', 'parameter config must be an array.')
  const items = config.flatMap((name) => {
    const found = typeof name === 'string' ? names.findAll(name) : []
    if (found.length === 0)
      throw new Refusal('item-unknown', `item(${JSON.stringify(name)}) is unknown.`)
    return found
  })
  return [...new Set(items)]
}

/** Formats items as a query returns them; an empty list if none of them is set. */
export function formatConfig(
  items: ReadonlyMap<ItemKey, Value>,
  wanted: ItemKey[] | null,
  names: WireNames,
  buildForm = buildReadForm,
): Json {
  const config: JsonObject = {}
  for (const [item, value] of items) {
    const form = wanted === null || wanted.includes(item) ? buildForm(item, value) : undefined
    if (form !== undefined) setOwn(config, names.getName(item), form)
  }
  return Object.keys(config).length === 0 ? [] : config
}

/** Lists the entries of `config[]`, or the text of `config`; undefined without both. */
function listEntries(query: ReadonlyMap<string, string>, text: string): Json | undefined {
  const scalar = query.get('config')
  if (scalar !== undefined) return scalar
  const entries = [...new URLSearchParams(text)].filter(([name]) => /^config\[\d*\]$/.test(name))
  return entries.length === 0 ? undefined : entries.map(([, value]) => value)
}
