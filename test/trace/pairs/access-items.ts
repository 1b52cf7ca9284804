import { pickDefined, type Json } from '../../../src/core/model/json.ts'
import { distinct, maybe, several, type Draft } from './draft.ts'
import { drawPath, drawPattern, drawUrlRegex } from './patterns.ts'
import { agents, knownCountries, networks, parameters, refererHosts } from './words.ts'

/** Makers of the items that decide about access, in the form of a manifest. */
export const accessItems: Record<string, (draft: Draft) => Json> = {
  deny_protocol: ({ chance }) => ({ protocol: chance.pick(['http', 'https']) }),
  ip_black_list: (draft) => ({ list: drawAddresses(draft) }),
  ip_white_list: (draft) => ({ list: drawAddresses(draft) }),
  visit_areas_limit: ({ chance, clues }) => {
    const list = distinct(chance, knownCountries, 3)
    clues.countries.push(...list)
    return { limit_type: chance.pick(['white', 'black']), country_list: list.join(',') }
  },
  referer: ({ chance, clues }) => {
    const list = chance.happens(0.03) ? [] : distinct(chance, refererHosts, 4)
    clues.referers.push(...list)
    return pickDefined({
      type: chance.pick([1, 2]),
      list,
      allow_empty: maybe(chance, 0.6, () => chance.happens(0.4)),
    })
  },
  user_agent: drawUserAgent,
  visit_timestamp: drawVisitTimestamp,
  combined_ban: (draft) => several(draft.chance, 1, 3, () => drawBan(draft)),
  deny_url: (draft) => ({ urls: several(draft.chance, 1, 4, () => drawDeniedUrl(draft)) }),
  post_upload_size_limit: ({ chance, clues }) => {
    const limit = chance.pick([1, 1, 2, 5, 1024])
    clues.uploads.push(limit)
    return { limit_value: limit }
  },
  visit_deny_whitelist: ({ chance, clues }) => {
    const urls = several(chance, 1, 3, () => {
      const query = chance.pick(['', '', '', '?', `?${chance.pick(parameters)}=1`, '?v=1&id=2'])
      return chance.pick(['/a.jpg', '/', drawPath(chance), drawPath(chance)]) + query
    })
    clues.targets.push(...urls)
    return [...new Set(urls)].map((url) => ({ url, turn_on: true }))
  },
  client_real_ip: ({ chance, clues }) => {
    const head = chance.pick(['X-Real-IP', 'X-Forwarded-For', 'X-A'])
    clues.realIpHeaders.push(head)
    return { head }
  },
}

function drawAddresses({ chance, clues }: Draft): string[] {
  const entries = distinct(chance, networks, 4).map((group) => chance.pick<string>(group))
  if (chance.happens(0.02)) entries.push('::ffff:10.9.8.7')
  clues.addresses.push(...entries)
  return chance.happens(0.02) ? [] : entries
}

function drawUserAgent(draft: Draft): Json {
  const { chance, clues } = draft
  const kind = chance.pick(['all', 'all', 'ext', 'dir', 'route', 'regex'] as const)
  const lines = several(chance, 1, 3, () => drawAgentText(draft))
  clues.agents.push(...lines)
  return {
    ua_list: lines.join('\n'),
    url_pattern: drawPattern(draft, kind),
    url_case_insensitive: chance.pick(['yes', 'no']),
    allow_empty_ua: chance.pick(['yes', 'no']),
    ua_case_insensitive: chance.pick(['yes', 'no']),
    url_match_type: kind,
    ua_type: chance.pick(['black', 'black', 'white']),
    ua_match_type: chance.pick(['pattern', 'exact']),
  }
}

function drawAgentText({ chance }: Draft): string {
  const rare = ['curl.8', '^Moz', '.*', 'a, b', '(bot', 'Bot$', 'curl/\\d+', '+http']
  const agent = chance.pick(agents)
  const part = agent.slice(0, chance.between(2, agent.length)).trim()
  return chance.pick([agent, part, part, part.toLowerCase(), chance.pick(rare)])
}

const parts = ['$ourkey', '$uri', '$time']

function drawVisitTimestamp(draft: Draft): Json {
  const { chance, clues } = draft
  const keys = chance.pick([['k1'], ['k1', 'k2'], ['s3cret']])
  const style = distinct(chance, parts, 3)
  const rest = parts.filter((part) => !style.includes(part))
  const named = maybe(chance, 0.6, () => [...style, ...rest].join(''))
  const layout = chance.pick([1, 2, 3, 4])
  const [timeName, keyName] = chance.pick([
    ['time', 'key'] as const,
    ['time', 'key'] as const,
    ['t', 'sign'] as const,
    ['id', 'v'] as const,
  ])
  const format = chance.pick(['timestamp', 'timestamp_hex', 'date_minute'])
  const deadtime = chance.pick([1, 60, 3600, 3600, 86_400])
  const fallback = '$ourkey$uri$time'
  clues.signings.push({
    layout,
    format,
    keys,
    deadtime,
    timeName,
    keyName,
    style: named ?? fallback,
  })
  const isSecret = chance.happens(0.3)
  if (isSecret) clues.secrets['signing'] = keys.join(' ')
  return pickDefined({
    pattern: chance.happens(0.6) ? '.*' : drawUrlRegex(draft),
    time_format: format,
    key: isSecret ? { $secret: 'signing' } : keys.join(' '),
    deadtime,
    req_uri_type: layout,
    origin_type: maybe(chance, 0.7, () => chance.pick([1, 2])),
    style: named,
    timename: timeName === 'time' ? undefined : timeName,
    keyname: keyName === 'key' ? undefined : keyName,
    error_page: maybe(chance, 0.1, () => 'https://e.example/'),
  })
}

function drawBan(draft: Draft): Json {
  const { chance, clues } = draft
  const isMatch = () => maybe(chance, 0.4, () => chance.pick(['yes', 'no', 'no']))
  const withCase = () => maybe(chance, 0.6, () => chance.pick(['yes', 'no']))
  const makers = {
    method: () => ({ method_type: chance.pick(['get', 'post']), is_match: isMatch() }),
    ip: () => {
      const list = distinct(chance, networks, 2).map((group) => chance.pick<string>(group))
      clues.addresses.push(...list)
      return { list, is_match: isMatch() }
    },
    referer: () => ({
      list: several(chance, 1, 2, () => drawRefererText(draft)),
      is_match: isMatch(),
    }),
    url: () => ({
      list: several(chance, 1, 2, () => drawUrlRegex(draft)),
      is_match: isMatch(),
      case_insensitive: withCase(),
    }),
    ua: () => ({
      list: several(chance, 1, 2, () => drawBannedAgent(draft)),
      is_match: isMatch(),
      case_insensitive: withCase(),
    }),
  }
  const kinds = distinct(chance, Object.keys(makers) as (keyof typeof makers)[], 3)
  const configs = kinds.map((kind) => [kind, pickDefined(makers[kind]())] as const)
  return pickDefined({
    action: maybe(chance, 0.3, () => 'ban'),
    configs: Object.fromEntries(configs),
  })
}

function drawRefererText({ chance, clues }: Draft): string {
  const rare = ['^', '$', '^$', '^https', '.org$', 'a.*b', '//', '?', 'BAD', '^http://bad.org/$']
  const host = chance.pick(refererHosts).replace('*.', '')
  clues.referers.push(host)
  return chance.happens(0.4) ? chance.pick(rare) : host
}

function drawBannedAgent({ chance, clues }: Draft): string {
  const agent = chance.pick(agents)
  clues.agents.push(agent)
  const part = agent.slice(0, chance.between(1, agent.length))
  const rare = ['^$', '^', '$', '.*', 'b.t', `^${agent}`, `${agent}$`]
  return chance.pick([part, part.toUpperCase(), `^${agent}$`, `^${part}`, chance.pick(rare)])
}

function drawDeniedUrl(draft: Draft): string {
  const { chance, clues, host } = draft
  const kind = chance.draw()
  if (kind < 0.35) return drawUrlRegex(draft)
  const path = chance.pick(['/5.txt', '/a?b=1', drawPath(chance), `${drawPath(chance)}?v=1`])
  clues.targets.push(path)
  if (kind < 0.45) return chance.pick(['*[bad', '/5.txt', path, '(', '\\.txt$', `^${path}$`])
  const scheme = chance.pick(['https', 'http'])
  const name = chance.pick([host, host, host, 'www.test.com', host.toUpperCase()])
  return `${scheme}://${name}${chance.pick(['', '', '', ':8080', ':443'])}${path}`
}
