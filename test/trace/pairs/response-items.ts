import { pickDefined, type Json, type JsonObject } from '../../../src/core/model/json.ts'
import { distinct, maybe, several, type Draft } from './draft.ts'
import { drawPattern, drawUrlRegex } from './patterns.ts'
import { contentTypes, headerValues, minutes, requestHeaders, responseHeaders } from './words.ts'

/** Makers of the items about headers and the response, in the form of a manifest. */
export const responseItems: Record<string, (draft: Draft) => Json> = {
  add_back_source_head: (draft) =>
    several(draft.chance, 1, 3, () => {
      const head_name = drawHeader(draft, requestHeaders)
      const write = maybe(draft.chance, 0.6, () => draft.chance.pick(['yes', 'no']))
      const fields = { head_name, head_value: drawValue(draft), write_when_exists: write }
      return pickDefined(fields)
    }),
  add_response_head: (draft) => {
    const make = () => ({ name: drawHeader(draft, responseHeaders), value: drawValue(draft) })
    return { list: draft.chance.happens(0.03) ? [] : several(draft.chance, 1, 3, make) }
  },
  head_control: (draft) => {
    const count = draft.chance.pick([1, 2, 3, 6])
    const isEmpty = draft.chance.happens(0.03)
    return { list: isEmpty ? [] : several(draft.chance, 1, count, () => drawHeaderRule(draft)) }
  },
  error_page_rewrite: ({ chance, clues }) => {
    const codes = distinct(chance, [400, 403, 404, 410, 500, 503], 3)
    clues.statuses.push(...codes)
    return codes.map((error_status_code) => ({
      error_status_code,
      redirect_status_code: chance.pick([301, 302]),
      redirect_url: chance.pick(['https://e.example/', 'http://e.example/?a=1', 'HTTPS://E.x/']),
    }))
  },
  compress_response: (draft) => {
    const [min_size, min_size_unit] = drawSize(draft)
    return { content_type: drawTypes(draft), min_size, min_size_unit }
  },
  smart_compression: drawSmartCompression,
  speed_limit: (draft) => several(draft.chance, 1, 4, () => drawSpeedRule(draft)),
  rate_limit: ({ chance }) =>
    pickDefined({
      max_rate_count: chance.pick([1, 10, 512]),
      max_rate_unit: maybe(chance, 0.7, () => chance.pick(['KB', 'MB'])),
      leading_flow_count: maybe(chance, 0.6, () => chance.pick([0, 1, 20])),
      leading_flow_unit: maybe(chance, 0.5, () => chance.pick(['KB', 'MB'])),
    }),
  video_drag: (draft) => {
    const { chance, clues } = draft
    const [start, end] = chance.pick([['start', 'end'] as const, ['ss', 'id'] as const])
    clues.parameters.push(start, end)
    clues.extensions.push('mp4', 'flv')
    return {
      url: chance.happens(0.5) ? '.*' : drawUrlRegex(draft),
      mp4: chance.pick(['on', 'on', 'off']),
      flv: chance.pick(['on', 'off']),
      start,
      end,
    }
  },
}

function drawHeader({ chance, clues }: Draft, names: readonly string[]): string {
  const isRepeated = clues.headers.length > 0 && chance.happens(0.35)
  const name = chance.pick(isRepeated ? clues.headers : names)
  clues.headers.push(name)
  return chance.happens(0.1) ? name.toLowerCase() : name
}

function drawValue({ chance }: Draft): Json {
  return chance.happens(0.03) ? { $secret: 'token' } : chance.pick(headerValues)
}

function drawHeaderRule(draft: Draft): JsonObject {
  const { chance } = draft
  const direction = chance.pick(['CLI_REQ', 'CLI_REP', 'SER_REQ', 'SER_REP'])
  const operation = chance.pick(['ADD', 'DEL', 'ALT'])
  const names = direction.endsWith('REQ') ? requestHeaders : responseHeaders
  const value = chance.pick(headerValues)
  return pickDefined({
    regex: chance.happens(0.65) ? '.*' : drawUrlRegex(draft),
    head_op: operation,
    head_direction: direction,
    head: drawHeader(draft, names),
    value: operation === 'DEL' ? maybe(chance, 0.3, () => value) : value || 'v',
    order: chance.pick([1, 1, 2, 3, -1]),
  })
}

function drawSize({ chance, clues }: Draft, least = 0): [number, string] {
  const size: [number, string] = [
    chance.pick([least, 1, 1, 10, 1000]),
    chance.pick(['KB', 'KB', 'MB']),
  ]
  clues.sizes.push(size)
  return size
}

function drawTypes({ chance, clues }: Draft): string[] {
  const types: string[] = distinct(chance, contentTypes, 3)
  clues.contentTypes.push(...types)
  if (chance.happens(0.1)) types.push('text/html; charset=utf-8')
  return types
}

function drawSmartCompression(draft: Draft): Json {
  const { chance } = draft
  const mode = chance.pick(['gzip', 'brotli', 'gzip&brotli', 'brotli&gzip'])
  const used = ['gzip', 'brotli'].filter((each) => mode.includes(each) || chance.happens(0.1))
  const fields = used.flatMap((algorithm): [string, Json][] => {
    const [value, unit] = drawSize(draft, 1)
    return [
      [`${algorithm}_compression_rate`, chance.between(1, 9)],
      [`${algorithm}_compression_value`, value],
      [`${algorithm}_compression_unit`, unit],
      [`${algorithm}_content_type`, drawTypes(draft)],
    ]
  })
  return { compression_mode: mode, ...Object.fromEntries(fields) }
}

function drawSpeedRule(draft: Draft): Json {
  const { chance, clues } = draft
  const type = chance.pick(['ext', 'dir', 'route', 'regex', 'all'] as const)
  const first = chance.between(0, minutes.length - 2)
  const window = [first, chance.between(first + 1, minutes.length - 1)]
  const [begin = '00:00', end = '23:59'] = window.map((i) => minutes[i])
  clues.times.push(begin, end)
  return {
    type,
    pattern: drawPattern(draft, type),
    speed: chance.pick(['1', '8', '9', '180', '1000']),
    begin_time: begin,
    end_time: end,
  }
}
