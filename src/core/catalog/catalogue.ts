import { itemSchemas } from './generated/schemas.ts'
import { itemValidators } from './generated/schema-validators.ts'
import type { ItemKey } from '../model/item.ts'
import type { SchemaValidator } from '../model/text/schema-fault.ts'
import { addBackSourceHead } from './items/add-back-source-head.ts'
import { addResponseHead } from './items/add-response-head.ts'
import { cacheRuleList } from './items/cache-rule-list.ts'
import { cacheRule } from './items/cache-rule.ts'
import { cacheShare } from './items/cache-share.ts'
import { combinedBan } from './items/combined-ban.ts'
import { cacheErrorCode, errorBcache } from './items/error-caching.ts'
import { errorPageRewrite } from './items/error-page-rewrite.ts'
import { extend } from './items/extend.ts'
import { headControl } from './items/head-control.ts'
import { https } from './items/https.ts'
import { createIpList } from './items/ip-list.ts'
import { defineItem, type ItemRow, type Stage, type ItemSpec } from './item-spec.ts'
import { newOrigin } from './items/new-origin.ts'
import { raiseUnits } from './observation.ts'
import { originHost } from './items/origin-host.ts'
import { origin } from './items/origin.ts'
import { referer } from './items/referer.ts'
import { smartCompression } from './items/smart-compression.ts'
import { sourceUrlRewrite } from './items/source-url-rewrite.ts'
import { speedLimit } from './items/speed-limit.ts'
import { tosOrigin } from './items/tos-origin.ts'
import { formats } from './value/formats.ts'
import { listFieldNames, type ItemSchema } from './value/item-schema.ts'
import { vendorOriginAuth } from './items/vendor-origin-auth.ts'
import { videoDrag } from './items/video-drag.ts'
import { visitDenyWhitelist } from './items/visit-deny-whitelist.ts'
import { visitTimestamp } from './items/visit-timestamp.ts'

/**
 * Rows of the catalogue: the rules of each item that its schema can't express; `{}` if the schema
 * expresses all.
 */
const rows: Record<keyof typeof itemSchemas, ItemRow> = {
  origin,
  origin_host: originHost,
  referer,
  cache_rule: cacheRule,
  cache_rule_list: cacheRuleList,
  ip_black_list: createIpList('ip_white_list'),
  ip_white_list: createIpList('ip_black_list'),
  add_response_head: addResponseHead,
  add_back_source_head: addBackSourceHead,
  https,
  visit_timestamp: visitTimestamp,
  video_drag: videoDrag,
  compress_response: {
    group: 'combined',
    observe: (_known, observed) => raiseUnits(observed, ['min_size_unit']),
  },
  speed_limit: speedLimit,
  visit_deny_whitelist: visitDenyWhitelist,
  // A query shows it only while it is off.
  range_back_source: {
    observe: (known, observed) => ({
      payload: observed === null && known === 'on' ? known : observed,
    }),
  },
  extend,
  rate_limit: {
    observe: (_known, observed) => raiseUnits(observed, ['max_rate_unit', 'leading_flow_unit']),
  },
  new_origin: newOrigin,
  cache_share: cacheShare,
  head_control: headControl,
  timeout: {},
  connect_timeout: {},
  vendor_origin_auth: vendorOriginAuth,
  forward_status: {},
  cache_error_code: cacheErrorCode,
  error_page_rewrite: errorPageRewrite,
  post_upload_size_limit: {},
  source_url_rewrite: sourceUrlRewrite,
  combined_ban: combinedBan,
  deny_url: {},
  tos_origin: tosOrigin,
  client_real_ip: {},
  user_agent: {},
  visit_areas_limit: {},
  smart_compression: smartCompression,
  deny_protocol: {},
  error_bcache: errorBcache,
}

/** Stages of a request in which each item is read; the places where `trace` shows it. */
const stages: Record<keyof typeof itemSchemas, readonly Stage[]> = {
  origin: ['origin'],
  origin_host: ['origin'],
  referer: ['access'],
  cache_rule: ['cache'],
  cache_rule_list: ['cache'],
  ip_black_list: ['access'],
  ip_white_list: ['access'],
  add_response_head: ['response'],
  add_back_source_head: ['origin'],
  https: ['connection', 'redirect'],
  visit_timestamp: ['access', 'origin'],
  video_drag: ['response'],
  compress_response: ['response'],
  speed_limit: ['response'],
  visit_deny_whitelist: ['access'],
  range_back_source: ['origin'],
  extend: ['origin'],
  rate_limit: ['response'],
  new_origin: ['origin'],
  cache_share: ['cache'],
  head_control: ['access', 'origin', 'response'],
  timeout: ['origin'],
  connect_timeout: ['origin'],
  vendor_origin_auth: ['origin'],
  forward_status: ['origin'],
  cache_error_code: ['cache'],
  error_page_rewrite: ['response'],
  post_upload_size_limit: ['access'],
  source_url_rewrite: ['origin'],
  combined_ban: ['access'],
  deny_url: ['access'],
  tos_origin: ['origin'],
  client_real_ip: ['access', 'origin'],
  user_agent: ['access'],
  visit_areas_limit: ['access'],
  smart_compression: ['response'],
  deny_protocol: ['access'],
  error_bcache: ['cache'],
}

/** Every configurable item, in the order of the specification. */
export const catalogue: ReadonlyMap<ItemKey, ItemSpec> = new Map(
  Object.entries(rows).map(([name, row]) => {
    const key = name as keyof typeof itemSchemas
    const schema = itemSchemas[key] as unknown as ItemSchema
    return [key, defineItem(key, schema, createSchemaCheck(key), { ...row, stages: stages[key] })]
  }),
)

/** Creates the check of values against the schema of an item, compiled at the first value. */
function createSchemaCheck(key: keyof typeof itemSchemas): ItemSpec['findSchemaErrors'] {
  let validate: SchemaValidator | undefined
  return (value) => {
    validate ??= itemValidators[key](formats)
    return validate(value) ? [] : (validate.errors ?? [])
  }
}

/** Items without a wire name in the specification; `service.itemKeys` must name them. */
export const unnamedItems: readonly ItemKey[] = ['deny_protocol', 'error_bcache']

/**
 * Returns the item of this name.
 *
 * @throws TypeError if the name is not in the catalogue, a bug of the caller
 */
export function getItemSpec(key: ItemKey): ItemSpec {
  const spec = catalogue.get(key)
  if (spec === undefined) throw new TypeError(`expected an item of the catalogue, got "${key}"`)
  return spec
}

/** Lists the names of all items and of their fields. */
export function listCatalogueNames(): string[] {
  return [...catalogue].flatMap(([item, { schema }]) => [item, ...listFieldNames(schema)])
}
