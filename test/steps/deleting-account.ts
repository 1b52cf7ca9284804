import { getItemSpec } from '../../src/core/catalog/catalogue.ts'
import type { Domain, ItemKey, Value } from '../../src/core/model/item.ts'
import type { Json } from '../../src/core/model/json.ts'
import type { Answer, Request, Transport } from '../../src/service/transport.ts'

/** One call, as the account saw it: `DELETE a.example.com,b.example.com timeout`. */
type CallLine = string

/** An account in memory that offers `DELETE /domain/config` beside the specification. */
export class DeletingAccount {
  readonly stored = new Map<Domain, Map<ItemKey, Value>>()
  readonly calls: CallLine[] = []
  readonly urls: string[] = []
  /** Status and body of the next answers; the calls have no effect. */
  readonly refusals: [number, Json][] = []

  readonly transport: Transport = async (request) => {
    const { domains, config } = this.#note(request)
    const refusal = this.refusals.shift()
    if (refusal !== undefined) return buildAnswer(...refusal)
    for (const domain of domains) {
      const items = this.stored.get(domain) ?? new Map<ItemKey, Value>()
      this.stored.set(domain, items)
      if (Array.isArray(config)) for (const item of config) items.delete(item)
      else
        for (const [item, payload] of Object.entries(config)) {
          const value = getItemSpec(item).reduce(items.get(item), payload)
          if (value === undefined) items.delete(item)
          else items.set(item, value)
        }
    }
    return buildAnswer(200, { code: 0, data: '' })
  }

  #note({ url, method, body = '' }: Request) {
    const { domains, config } = JSON.parse(body) as {
      domains: string
      config: Record<ItemKey, Json> | ItemKey[]
    }
    const items = Array.isArray(config) ? config : Object.keys(config)
    this.calls.push(`${method ?? 'POST'} ${domains} ${items.join()}`)
    this.urls.push(url)
    return { domains: domains.split(','), config }
  }
}

function buildAnswer(status: number, body: Json): Answer {
  return { status, header: () => null, body: JSON.stringify(body) }
}
