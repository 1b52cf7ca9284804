import { expect, it } from 'vitest'
import { readCombinedLog, sampleEvenly } from '../../src/core/effects/requests/parse-log.ts'
import { parseEntries, readRequestFile } from '../../src/manifest/requests/request-file.ts'

const url = 'https://www.example.com/a'

it.each([
  ['lines', `# log\n\n${url}\nPOST ${url}\n  ${url}  \nGET POST ${url}`],
  ['NDJSON', `{"url": "${url}", "count": 2}\n{"url": "${url}", "method": "POST"}\n{"url": `],
  ['a JSON list', JSON.stringify([url, { url, count: 1 }, { method: 'POST', url }, 7])],
  ['a YAML list', `- ${url}\n- url: ${url}\n- {url: "${url}", method: POST}\n- {url: x, count: 0}`],
])('reads %s, merges equal requests and counts what is none', (_, text) => {
  expect(readRequestFile(text, 'f')).toEqual({
    requests: [
      { request: { url }, count: 2 },
      { request: { url, method: 'POST' }, count: 1 },
    ],
    skipped: 1,
  })
})

it.each([
  ['[', 900, 'f:1:65: expected at most 64 levels of nesting, got more'],
  ['- ', 900, 'f:1:131: expected at most 64 levels of nesting, got more'],
  // The parser took minutes for these.
  ['- ? ', 900, 'f:1:1'],
  ['[', 5_000_000, 'f:1:65: expected at most 64 levels of nesting, got more'],
])('refuses a list that is nested too deep: %j %i times', (text, times, message) => {
  expect(() => readRequestFile(text.repeat(times), 'f')).toThrow(message)
})

it('reads an alias as manifests do, and refuses one without an anchor', () => {
  const text = `- &a {url: "${url}"}\n- *a\n`
  expect(readRequestFile(text, 'f').requests).toEqual([{ request: { url }, count: 2 }])
  expect(() => readRequestFile('- *a\n', 'f')).toThrow('f:1:3: the alias "*a" has no anchor')
})

it('says where an entry is no request', () => {
  expect(parseEntries(`${url}\na b c`, 'f.txt')[1]).toEqual({
    place: 'f.txt:2',
    fault: 'expected "[METHOD ]URL", got "a b c"',
  })
  expect(parseEntries('[7]', 'f.json')[0]).toMatchObject({ place: 'f.json, entry 1' })
  expect(parseEntries('[{"url": "x", "count": -1}]', 'f')[0]).toMatchObject({
    fault: 'count must be a whole number from 1, got "-1"',
  })
})

it.each(['', '# nothing\n', '[]', '[1, 2]'])('refuses a file without a request: %j', (text) => {
  expect(() => readRequestFile(text, 'f')).toThrow('f has no request')
  expect(() => readCombinedLog(text, 'f')).toThrow('f has no request')
})

const line = (request: string, rest = '"-" "curl/8"', ip = '192.0.2.1') =>
  `${ip} - bob [10/Oct/2023:13:55:36 -0700] "${request}" 200 2326 ${rest}`

it('reads a log in the combined format', () => {
  const text = [
    line(`GET ${url} HTTP/1.1`),
    line(`GET ${url} HTTP/1.1`),
    line('get /b?c=1 HTTP/2.0', '"https://r.example/\\"x\\x22" "-" "203.0.113.1"', '2001:DB8::1'),
    line('OPTIONS * HTTP/1.1'),
    line('\\x16\\x03'),
    line(`GET ${url} HTTP/1.1`, '"-"'),
    line(`GET ${url} HTTP/1.1`, '"-" "-"', 'host.example'),
    `192.0.2.1 - - [10/Foo/2023:13:55:36 -0700] "GET ${url} HTTP/1.1" 200 1 "-" "-"`,
    'nonsense',
    '',
  ].join('\n')
  const at = Date.parse('2023-10-10T20:55:36Z') / 1000
  expect(readCombinedLog(text, 'f', { base: 'https://www.example.com/' })).toEqual({
    lines: 9,
    skipped: 6,
    requests: [
      {
        request: {
          url,
          method: 'GET',
          ip: '192.0.2.1',
          at,
          headers: { referer: null, 'user-agent': 'curl/8' },
        },
        count: 2,
      },
      {
        request: {
          url: 'https://www.example.com/b?c=1',
          method: 'GET',
          ip: '2001:db8::1',
          at,
          headers: { referer: 'https://r.example/"x"', 'user-agent': null },
        },
        count: 1,
      },
    ],
  })
  expect(readCombinedLog(text, 'f').skipped).toBe(7)
})

it('skips and counts lines of a log with other bytes, and refuses too many lines', () => {
  const lines = [line(`GET ${url} HTTP/1.1`), line('GET /caf\ufffd HTTP/1.1'), line(`GET ${url}\0`)]
  const options = { base: 'https://www.example.com' }
  expect(readCombinedLog(lines.join('\n'), 'f', options)).toMatchObject({
    lines: 3,
    skipped: 2,
    requests: [{ count: 1 }],
  })
  expect(() => readCombinedLog('x\n'.repeat(5_000_001), 'f')).toThrow(
    'f has more than 5000000 lines',
  )
})

it('a log is thinned evenly, and always alike', () => {
  const list = Array.from({ length: 1000 }, (_, i) => i)
  const chosen = sampleEvenly(list, 100)
  expect(chosen).toHaveLength(100)
  expect(chosen).toEqual(sampleEvenly(list, 100))
  expect(chosen.every((n, i) => Math.floor(n / 10) === i)).toBe(true)
  expect(new Set(chosen.map((n) => n % 10)).size).toBeGreaterThan(5)
  expect(sampleEvenly(list, 1000)).toBe(list)
  expect(sampleEvenly(list, 7)).toHaveLength(7)
  const text = Array.from({ length: 50 }, (_, i) => line(`GET ${url}${i} HTTP/1.1`)).join('\n')
  const { requests, lines } = readCombinedLog(text, 'f', { sample: 10 })
  expect([requests.length, lines]).toEqual([10, 50])
})
