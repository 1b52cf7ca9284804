import type { Case } from './worked-cases.ts'
import { at, none } from './worked-parts.ts'

/** Worked cases 63 to 70 of request semantics, 9. */
const added = { add_response_head: { list: [{ name: 'X-T', value: 'a' }] } }
const control = (...changes: unknown[]): Record<string, unknown> => ({
  head_control: { list: changes },
})
const del = { regex: '.*', head_op: 'DEL', head_direction: 'CLI_REP' }
const add = { regex: '.*', head_op: 'ADD', head_direction: 'CLI_REP', value: '1' }
const pages = {
  error_page_rewrite: [
    {
      error_status_code: 404,
      redirect_status_code: 302,
      redirect_url: 'https://e.example/',
    },
  ],
}
const compress = {
  compress_response: { content_type: ['text/html'], min_size: 1, min_size_unit: 'KB' },
}

function page(type: string, size: number | undefined): Record<string, unknown> {
  return {
    ...at('/'),
    headers: { 'accept-encoding': 'gzip, br' },
    origin: { headers: { 'content-type': type }, ...(size === undefined ? {} : { size }) },
  }
}

const smart = {
  smart_compression: {
    compression_mode: 'gzip',
    gzip_compression_rate: 5,
    gzip_compression_value: 1,
    gzip_compression_unit: 'KB',
    gzip_content_type: ['text/html'],
  },
}
const compression = 'response.compression'
const speed = {
  speed_limit: [
    { type: 'ext', pattern: 'jpg', speed: '180', begin_time: '08:00', end_time: '18:00' },
  ],
}
const drag = { video_drag: { url: '.*', mp4: 'on', flv: 'off', start: 'start', end: 'end' } }

export const responseCases: Case[] = [
  {
    id: '63a',
    items: added,
    request: at('/'),
    expect: { 'response.headers.x-t': ['a'] },
    assumed: ['R65'],
  },
  {
    id: '63b',
    items: { ...added, ...control({ ...del, head: 'X-T', order: 1 }) },
    request: at('/'),
    expect: { 'response.headers.x-t': '?R64' },
  },
  {
    id: '64',
    items: control({ ...add, head: 'X-A', order: 1 }, { ...del, head: 'X-A', order: 2 }),
    request: { ...at('/'), origin: { headers: none } },
    expect: { 'response.headers.x-a': '?R61' },
  },
  {
    id: '65a',
    items: pages,
    request: { ...at('/'), origin: { status: 404 } },
    expect: { 'response.status': 302, 'response.location': 'https://e.example/' },
  },
  {
    id: '65b',
    items: pages,
    request: { ...at('/'), origin: { status: 200 } },
    expect: { 'response.status': 200 },
  },
  { id: '65c', items: pages, request: at('/'), expect: { 'response.status': '?NG origin.status' } },
  {
    id: '66',
    items: { forward_status: { codes: [301, 302] } },
    request: { ...at('/'), origin: { status: 302 } },
    expect: { 'response.status': '?NG origin.followed', 'origin.follow': [301, 302] },
  },
  {
    id: '67a',
    items: compress,
    request: page('text/html', 500),
    expect: { [compression]: 'none' },
  },
  {
    id: '67b',
    items: compress,
    request: page('text/html', 5000),
    expect: { [compression]: '?R73' },
  },
  {
    id: '67c',
    items: compress,
    assume: { R73: 'gzip' },
    request: page('text/html', 1010),
    expect: { [compression]: '?R29' },
  },
  {
    id: '67d',
    items: compress,
    assume: { R73: 'gzip' },
    request: page('text/html;x', 5000),
    expect: { [compression]: '?R70' },
  },
  {
    id: '68a',
    items: smart,
    request: { ...page('text/html', 5000), headers: { 'accept-encoding': 'gzip' } },
    expect: { [compression]: 'gzip' },
  },
  {
    id: '68b',
    items: smart,
    request: { ...at('/'), origin: { headers: { 'content-type': 'image/png' } } },
    expect: { [compression]: 'none' },
  },
  ...(
    [
      ['a', '/a.jpg', '08:00', 23],
      ['b', '/a.jpg', '18:00', '?R76'],
      ['c', '/a.jpg', '18:01', null],
      ['d', '/a.jpg', undefined, '?NG time'],
      ['e', '/a.css', undefined, null],
    ] as const
  ).map(([row, path, time, answer]) => ({
    id: `69${row}`,
    items: speed,
    request: { ...at(path), ...(time === undefined ? {} : { time }) },
    expect: { 'response.speedLimit': answer },
  })),
  {
    id: '70a',
    items: {
      rate_limit: {
        max_rate_count: 10,
        max_rate_unit: 'KB',
        leading_flow_count: 1,
        leading_flow_unit: 'KB',
      },
    },
    request: at('/'),
    expect: { 'response.rateLimit': { rate: '10 KB', after: '1 KB' } },
  },
  {
    id: '70b',
    items: drag,
    request: at('/a.mp4?start=1&end=2'),
    expect: { 'response.drag': true },
  },
  { id: '70c', items: drag, request: at('/a.mp4?start=1'), expect: { 'response.drag': '?R77' } },
  {
    id: '70d',
    items: drag,
    request: at('/a.flv?start=1&end=2'),
    expect: { 'response.drag': false },
  },
]
