import type { ItemValues } from '../../../src/core/catalog/generated/items.ts'
import type { Plain } from '../../../src/core/model/secret.ts'

/** Canonical values of the items. Text may be a secret instead: see `readText`. */
export type Items = Plain<ItemValues>

export type ItemName = keyof Items

/** All 38 names, sorted. */
export const itemNames = [
  'add_back_source_head',
  'add_response_head',
  'cache_error_code',
  'cache_rule',
  'cache_rule_list',
  'cache_share',
  'client_real_ip',
  'combined_ban',
  'compress_response',
  'connect_timeout',
  'deny_protocol',
  'deny_url',
  'error_bcache',
  'error_page_rewrite',
  'extend',
  'forward_status',
  'head_control',
  'https',
  'ip_black_list',
  'ip_white_list',
  'new_origin',
  'origin',
  'origin_host',
  'post_upload_size_limit',
  'range_back_source',
  'rate_limit',
  'referer',
  'smart_compression',
  'source_url_rewrite',
  'speed_limit',
  'timeout',
  'tos_origin',
  'user_agent',
  'vendor_origin_auth',
  'video_drag',
  'visit_areas_limit',
  'visit_deny_whitelist',
  'visit_timestamp',
] as const satisfies ItemName[]

export function isItemName(name: string): name is ItemName {
  return itemNames.some((item) => item === name)
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isUnknownCandidate(candidate: unknown): boolean {
  return isRecord(candidate) && candidate['$unknown'] === true
}

/**
 * IP lists without entries and empty array items are absent. An object with nothing but an empty
 * list is an IP list, or has no effect.
 */
export function emptyToNull(candidate: unknown): unknown {
  if (candidate === undefined) return null
  if (Array.isArray(candidate) && candidate.length === 0) return null
  if (!isRecord(candidate)) return candidate
  // An empty text clears the extension, says the specification of the service.
  if (candidate['squid'] === '') return null
  const { list } = candidate
  const isIpList =
    Array.isArray(list) &&
    list.length === 0 &&
    Object.keys(candidate).every((key) => key === 'list' || key === 'mode')
  return isIpList ? null : candidate
}

/** The name of the secret that stands in place of a text; null for a text. */
export function findSecret(text: unknown): string | null {
  return isRecord(text) && typeof text['$secret'] === 'string' ? text['$secret'] : null
}

/** A rule or an entry, as the output names it. */
export interface RuleName {
  item: string
  pointer: string
  pattern: string | null
}

export function nameRule(item: string, pointer: string, pattern: unknown = null): RuleName {
  return { item, pointer, pattern: typeof pattern === 'string' ? pattern : null }
}

/** Splits a list in one text; blanks are trimmed. */
export function splitList(text: string, separator = ','): string[] {
  return text
    .split(separator)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

export const carriers = ['dx', 'lt', 'yd', 'other'] as const
export type Carrier = (typeof carriers)[number]
