/** The items with the ten checks of access, in the order in which they are shown. */
export const checkKeys = [
  'deny_protocol',
  'ip_black_list',
  'ip_white_list',
  'visit_areas_limit',
  'referer',
  'user_agent',
  'visit_timestamp',
  'combined_ban',
  'deny_url',
  'post_upload_size_limit',
] as const

/** Those from which `visit_deny_whitelist` exempts whatever R18 says. */
export const antiLeechKeys: readonly string[] = ['referer', 'visit_timestamp']
