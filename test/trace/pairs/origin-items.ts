import { countGroups } from '../../../src/core/catalog/value/regex.ts'
import { pickDefined, type Json, type JsonObject } from '../../../src/core/model/json.ts'
import { distinct, maybe, several, type Draft } from './draft.ts'
import { drawPath, drawPattern, drawUrlRegex } from './patterns.ts'
import { drawSequence } from './regexes.ts'
import { carriers, extensions, folders, originAddresses, originHosts } from './words.ts'

/** Makers of the items about the connection and the origin, in the form of a manifest. */
export const originItems: Record<string, (draft: Draft) => Json> = {
  https: ({ chance }) =>
    pickDefined({
      cert_id: chance.happens(0.08) ? 0 : 1001,
      force_https: maybe(chance, 0.6, () => chance.pick([0, 301, 302])),
      http2: maybe(chance, 0.4, () => chance.pick(['on', 'off'])),
      ocsp: maybe(chance, 0.3, () => chance.pick(['on', 'off'])),
      ssl_protocol: maybe(chance, 0.3, () => distinct(chance, ['TLSv1.2', 'TLSv1.3'], 2)),
    }),
  origin: drawOrigin,
  origin_host: ({ chance }) => ({ host: chance.pick(originHosts) }),
  new_origin: drawNewOrigin,
  tos_origin: drawTosOrigin,
  extend: ({ chance }) => ({ squid: chance.pick(['acl a src all', 'a\nb', 'x', 'x', '']) }),
  source_url_rewrite: (draft) => several(draft.chance, 1, 3, () => drawRewrite(draft)),
  vendor_origin_auth: (draft) => {
    const { chance } = draft
    const method = chance.pick(['default', 'ext', 'ext', 'regex'] as const)
    const isEmpty = method === 'default' && chance.happens(0.6)
    return pickDefined({
      auth_url: chance.pick(['https://auth.example.com/check', 'http://auth.example.com']),
      match_method: method === 'default' ? maybe(chance, 0.5, () => method) : method,
      pattern: isEmpty ? undefined : drawPattern(draft, method === 'default' ? 'ext' : method),
    })
  },
  range_back_source: ({ chance }) => chance.pick(['on', 'off']),
  forward_status: ({ chance, clues }) => {
    const codes = distinct(chance, [301, 302], 2)
    clues.statuses.push(...codes)
    return { codes }
  },
  timeout: ({ chance }) => ({ time: chance.pick(['5', '30', '300']) }),
  connect_timeout: ({ chance }) => ({ origin_connect_timeout: chance.pick(['5', '15', '60']) }),
}

function drawOrigin({ chance }: Draft): Json {
  const addresses = distinct(chance, originAddresses, 5)
  const split = chance.between(1, addresses.length)
  const mode = chance.pick(['default', 'default', 'http', 'https', 'custom', 'custom'])
  const backups = addresses.slice(split)
  const isCustom = mode === 'custom'
  return pickDefined({
    default_master: addresses.slice(0, split).join(','),
    default_slave: backups.length > 0 ? backups.join(',') : undefined,
    origin_mode: mode === 'default' ? maybe(chance, 0.5, () => mode) : mode,
    ori_https: isCustom ? maybe(chance, 0.7, () => chance.pick(['yes', 'no'])) : undefined,
    port: isCustom ? maybe(chance, 0.7, () => chance.pick([80, 443, 800, 8080])) : undefined,
  })
}

function drawNewOrigin({ chance }: Draft): Json {
  const shape = chance.pick([
    { levels: [20], isps: ['default'] },
    { levels: [10, 20], isps: ['default'] },
    { levels: [10, 20], isps: ['default', 'dx', 'lt'] },
    { levels: [10], isps: ['default', ...carriers] },
  ])
  const address = () => chance.pick(originAddresses)
  const entries = several(chance, 0, 4, () =>
    pickDefined({
      origin: address(),
      port: maybe(chance, 0.4, () => chance.pick([80, 443, 8443, 0])),
      protocol: maybe(chance, 0.6, () => chance.pick(['default', 'http', 'https'])),
      host: maybe(chance, 0.4, () => chance.pick(['', ...originHosts])),
      level: maybe(chance, 0.8, () => chance.pick(shape.levels)),
      weight_level: maybe(chance, 0.6, () => chance.pick([1, 20, 40, 60])),
      isp: maybe(chance, 0.8, () => chance.pick(shape.isps)),
      connect_time: maybe(chance, 0.3, () => chance.pick([3, 15, 30])),
    }),
  )
  entries.splice(chance.between(0, entries.length), 0, { origin: address() })
  return entries
}

function drawTosOrigin({ chance }: Draft): Json {
  const withWeights = chance.pick([0, 0.5, 1])
  const groups = several(chance, 0, 3, () => chance.pick(['default', 'default', ...carriers]))
  groups.splice(chance.between(0, groups.length), 0, 'default')
  return groups.map((isp): JsonObject => {
    const pool = originAddresses.filter((each) => /^[oO]/.test(each) === (isp === 'lt'))
    const mode = chance.pick(['default', 'http', 'https', 'custom', 'custom'])
    const hostMode = chance.pick(['default', 'custom'])
    const auth = chance.pick(['default', 'default', 'oss', 'tos'])
    return pickDefined({
      isp,
      ips: distinct(chance, pool, 2),
      group_sort: chance.between(1, 3),
      weight: maybe(chance, withWeights, () => chance.pick([1, 30, 70])),
      origin_mode: maybe(chance, 0.8, () => mode),
      protocol: maybe(chance, 0.6, () => chance.pick(['default', 'http', 'https'])),
      port: maybe(chance, 0.6, () => chance.pick([80, 443, 9000])),
      host_mode: maybe(chance, 0.8, () => hostMode),
      host: hostMode === 'custom' ? chance.pick([...originHosts, '192.0.2.9']) : undefined,
      auth_type: maybe(chance, 0.5, () => auth),
      auth_secret_key: auth === 'default' ? undefined : { $secret: 'storage' },
      auth_access_key: auth === 'default' ? undefined : 'access',
    })
  })
}

function drawRewrite(draft: Draft): Json {
  const { chance, clues } = draft
  const origin_url = drawRewrittenUrl(draft)
  const groups = countGroups(origin_url)
  const reference = () => {
    const n = chance.between(1, groups)
    return chance.pick([`$${n}`, `$${n}`, `$${n}`, `$${n}0`, `$$${n}`, `/$${n}.`])
  }
  const parts = several(chance, 1, 3, () => {
    if (groups > 0 && chance.happens(0.6)) return reference()
    const rare = ['$', '$&', '$a', 'é', '%2f', '?v=1', '&id=2', '..', 'x y']
    const word = chance.pick([...folders, ...folders, ...extensions])
    return chance.happens(0.15) ? chance.pick(rare) : `${word}/`
  })
  const target = chance.pick(['/', '/new/', '/static/']) + parts.join('')
  const ended = target + chance.pick(['', '', 'x.jpg', '.apk', drawPath(chance)])
  if (!ended.includes('$')) clues.targets.push(ended)
  return { origin_url, target_url: ended }
}

function drawRewrittenUrl(draft: Draft): string {
  const { chance, clues } = draft
  const kind = chance.draw()
  if (kind < 0.5) {
    const [folder, extension] = [chance.pick(folders), chance.pick(extensions)]
    const [text, sample] = chance.pick<[string, string]>([
      [`/${folder}/(.*)/(.*).${extension}`, `/${folder}/x/y/z.${extension}`],
      [`/${folder}/(.*)`, `/${folder}/a.jpg`],
      [`/(\\w+)/([^?]*)`, `/${folder}/b.${extension}`],
      ['/(a|b)*/c', '/ab/c'],
      [`/(.*)\\.${extension}$`, `/v/a.${extension}`],
      [`/(.*?)\\?(.*)`, `/${folder}/?v=1&id=2`],
      ['/(a)?(b)?(.*)', '/b/x'],
      [`/${folder}/.*`, `/${folder}/x`],
    ])
    clues.targets.push(sample)
    return text
  }
  if (kind < 0.6) {
    const text = drawUrlRegex(draft)
    return text.startsWith('/') ? text : `/${text.replace(/^\^\/?/, '')}`
  }
  const { text, sample } = drawSequence(chance)
  clues.targets.push(`/${sample}`)
  return `/${text}`
}
