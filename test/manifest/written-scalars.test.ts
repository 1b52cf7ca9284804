import { describe, expect, it } from 'vitest'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import type { ItemSchema } from '../../src/core/catalog/value/item-schema.ts'
import { loadTests } from '../../src/manifest/tests/load-tests.ts'
import { parseAnyYaml, parseYaml } from '../../src/manifest/yaml/yaml-file.ts'
import { createFolder, createWorkspace, listGlobs, listValues } from './test-workspace.ts'

const head = 'domain: a.example.com\nconfig:\n'

/** Lists `line:column severity detail` of each diagnostic. */
function validate(text: string, home = ''): string[] {
  const files = { 'edgewise.yaml': `version: 1\n${home}`, 'domains/a.yaml': text }
  const { diagnostics } = createWorkspace(files)
  return diagnostics.map(
    ({ line, column, severity, detail }) => `${line}:${column} ${severity} ${detail}`,
  )
}

function explain(text: string, number: string): string {
  return (
    `expected text, got ${text}, which is the number ${number} without quotes. ` +
    `Write "${text}" with the quotes, or ${number}.`
  )
}

const converted = [
  ['0042', '42'],
  ['1e3', '1000'],
  ['0x1F', '31'],
  ['0o17', '15'],
  ['+1', '1'],
  ['-0', '0'],
  ['1.0', '1'],
] satisfies [string, string][]

describe('a number in place of text', () => {
  it.each(converted)('%s is an error in a field, which shows it', (text, number) => {
    expect(validate(`${head}  deny_url: {urls: [a, ${text}]}\n`)).toEqual([
      `3:24 error ${explain(text, number)}`,
    ])
  })

  it.each([...converted, ['3.10', '3.1'], ['.5', '0.5']])(
    '%s is an error in a variable',
    (text, number) => {
      expect(validate(`domain: a.example.com\nvars: {a: ${text}}\nconfig: {}\n`)).toEqual([
        `2:11 error ${explain(text, number)}`,
      ])
    },
  )

  it('is an error as a fraction in a field, and shown as it is written', () => {
    expect(validate(`${head}  client_real_ip: {head: 3.10}\n`)).toContain(
      `3:26 error ${explain('3.10', '3.1')}`,
    )
  })

  it('stays allowed where its text is what is written', () => {
    const text =
      'domain: a.example.com\nvars: {a: 60, b: 3.5, c: 1_000}\nconfig:\n' +
      '  timeout: {time: 60}\n  deny_url: {urls: [42, "${var:b}-${var:c}"]}\n'
    const workspace = createWorkspace({ 'domains/a.yaml': text })
    expect(workspace.diagnostics).toEqual([])
    expect(listValues(workspace, 'a.example.com')).toEqual({
      timeout: { time: '60' },
      deny_url: { urls: ['3.5-1_000', '42'] },
    })
  })

  it('stays allowed in any notation where a number is expected', () => {
    const workspace = createWorkspace({ 'domains/a.yaml': `${head}  https: {cert_id: 0x1F}\n` })
    expect(workspace.diagnostics).toEqual([])
    expect(listValues(workspace, 'a.example.com')).toMatchObject({
      https: { cert_id: 31 },
    })
  })

  it('is an error in entries that are added, in lists with commas, behind aliases', () => {
    const list = validate(`${head}  deny_url: {urls: {$append: [0042]}}\n`)
    expect(list).toContain(`3:31 error ${explain('0042', '42')}`)
    const commas = validate(`${head}  cache_rule: [{type: 1, pattern: [jpg, 0042], time: 1}]\n`)
    expect(commas).toContain(`3:41 error ${explain('0042', '42')}`)
    const alias = validate(`${head}  deny_url: {urls: [&a 1e3, *a]}\n`)
    expect(alias).toEqual([
      `3:24 error ${explain('1e3', '1000')}`,
      `3:29 error ${explain('1e3', '1000')}`,
    ])
  })

  it('is an error in a profile, once, in the defaults, and in what a test gives', () => {
    const profile = 'profile: p\nvars: {a: 0o17}\nconfig: {deny_url: {urls: [1e3]}}\n'
    const manifests = 'ab'.split('').map((name) => `domain: ${name}.example.com\nprofiles: [p]\n`)
    expect(validate([profile, ...manifests].join('---\n'))).toEqual([
      `2:11 error ${explain('0o17', '15')}`,
      `3:28 error ${explain('1e3', '1000')}`,
    ])
    const home = 'defaults:\n  deny_url: {urls: [0042]}\n'
    expect(validate('domain: a.example.com\nconfig: {}\n', home)).toEqual([
      `3:21 error ${explain('0042', '42')}`,
    ])
    const test =
      'test: t\ngiven: {vars: {a: 0042}, config: {deny_url: {urls: [1e3]}}}\n' +
      'plan: {from: {deny_url: {urls: [0x1F]}}, writes: 1}\n'
    const { diagnostics } = loadTests(createFolder({ 'tests/a.yaml': test }), listGlobs())
    expect(diagnostics.map(({ detail }) => detail)).toEqual([
      explain('0042', '42'),
      explain('1e3', '1000'),
      explain('0x1F', '31'),
    ])
  })

  it('is not shown in a secret field', () => {
    const details = validate(
      `${head}  visit_timestamp: {key: 0012345}\n`,
      'allowLiteralSecrets: true\n',
    ).join('\n')
    expect(details).toContain('3:26 error expected text, got a number. Put quotes around it.')
    expect(details).not.toContain('12345')
  })

  it('is an error in every field of text of every item', () => {
    const build = (schema: ItemSchema): string[] => {
      const { type, items, properties = {}, oneOf = [] } = schema
      if (type === 'string') return ['0042']
      const fields = Object.entries(properties).flatMap(([name, field]) =>
        build(field).map((text) => `{${name}: ${text}}`),
      )
      const entries = items === undefined ? [] : build(items).map((text) => `[${text}]`)
      return [...fields, ...entries, ...oneOf.flatMap(build)]
    }
    const written = [...catalogue].flatMap(([item, { schema }]) =>
      build(schema).map((text) => `${item}: ${text}`),
    )
    expect(written.length).toBeGreaterThan(100)
    for (const each of written)
      expect(
        validate(`${head}  ${each}\n`).filter((detail) =>
          /error expected text, got (?:0042, which|a number\.)/.test(detail),
        ),
        each,
      ).toHaveLength(1)
  })

  it('is shown as it is written in names', () => {
    const text = 'domain: 1.10\nprofiles: [0042]\nowners: [1e3]\nconfig: {}\n'
    expect(validate(text)).toEqual(
      expect.arrayContaining([
        `1:9 error ${explain('1.10', '1.1')}`,
        `2:12 error ${explain('0042', '42')}`,
        `3:10 error ${explain('1e3', '1000')}`,
      ]),
    )
  })

  it('is shown as it is written as a key', () => {
    expect(validate('1e3: a\n')).toEqual([
      '1:1 error expected a string as key, got 1e3. Put quotes around it.',
    ])
  })
})

const lineEnd =
  'error expected no line end behind the text, got one. Write "|-" for "|", or ">-" for ">".'
const describeControl = (escape: string) =>
  `error expected no control character, got "${escape}". If a backslash is meant, write ` +
  `"\\${escape}", or use single quotes.`

describe('a control character', () => {
  it.each([
    ['\\b', '\\b'],
    ['\\t', '\\t'],
    ['\\n', '\\n'],
    ['\\r', '\\r'],
    ['\\e', '\\u001b'],
    ['\\x7f', '\\u007f'],
    ['\\N', '\\u0085'],
    ['\\L', '\\u2028'],
  ])('"%s" is an error in a pattern', (written, shown) => {
    expect(validate(`${head}  deny_url: {urls: ["${written}admin"]}\n`)).toEqual([
      `3:21 ${describeControl(shown)}`,
    ])
  })

  it.each([
    ['an entry', '  deny_url:\n    urls:\n      - |\n        ^/a\n', '5:9'],
    ['an address', '  ip_black_list:\n    list:\n      - >\n        192.0.2.1\n', '5:9'],
    ['a list of addresses', '  origin:\n    default_master: |\n      192.0.2.1\n', '4:21'],
    ['a pattern', '  video_drag:\n    url: |\n      ^/a\n    mp4: on\n', '4:10'],
    [
      'a header',
      '  add_response_head:\n    type: add\n    list:\n    - name: X\n      value: |\n        v\n',
      '7:14',
    ],
    ['quotes', '  deny_url: {urls: ["a\\r\\n"]}\n', '3:21'],
  ])('is an error behind %s', (_, text, place) => {
    const found = validate(head + text)
    expect(found).toContain(`${place} ${lineEnd}`)
    expect(found.filter((each) => each.startsWith(`${place} `))).toHaveLength(1)
  })

  it('is an error where a variable brings it in', () => {
    const text =
      'domain: a.example.com\nvars: {a: "x\\b"}\nconfig: {deny_url: {urls: ["${var:a}"]}}\n'
    expect(validate(text)).toEqual([`3:28 ${describeControl('\\b')}`])
  })

  it('stays allowed where lines are meant', () => {
    const text =
      '  extend:\n    squid: |\n      acl a\tsrc 192.0.2.0/24\n      b\n' +
      '  user_agent:\n    ua_list: |\n      curl\n      wget\n    url_match_type: all\n' +
      '    url_pattern: .*\n    ua_type: black\n    ua_match_type: pattern\n' +
      '    ua_case_insensitive: no\n    url_case_insensitive: no\n    allow_empty_ua: yes\n'
    expect(validate(head + text)).toEqual([])
  })
})

const empty = 'nothing is behind this key'
const emptyWarning = `warning ${empty}. Write a value, or "null" if that is meant.`
const emptyError = `error ${empty}, and nothing is set that it takes out. Write a value.`

describe('a key with nothing behind it', () => {
  const profile = 'profile: p\nconfig: {https: {cert_id: 1, http2: on}}\n---\n'
  const below = `${profile}domain: a.example.com\nprofiles: [p]\n`

  it('is a warning where it takes something out, else an error', () => {
    expect(
      validate(`${below}config:\n  https:\n    http2:\n    # on\n    ocsp:\n  origin:\n    # x\n`),
    ).toEqual([`8:5 ${emptyWarning}`, `10:5 ${emptyError}`, `11:3 ${emptyError}`])
    expect(validate(`${head}  https: {cert_id: 1, http2: }\n`)).toEqual([`3:23 ${emptyError}`])
  })

  it('is a warning in a profile and beside items, and an error in the defaults', () => {
    expect(validate(`${below}vars:\nconfig:\n`)).toEqual([
      `6:1 ${emptyWarning}`,
      `7:1 ${emptyWarning}`,
    ])
    expect(validate('profile: p\nconfig:\n  https:\n')).toContain(`3:3 ${emptyWarning}`)
    const manifest = 'domain: a.example.com\nconfig: {}\n'
    expect(validate(manifest, 'guards:\ndefaults:\n  origin:\n')).toEqual([
      `2:1 ${emptyWarning}`,
      `4:3 ${emptyError}`,
    ])
  })

  it('is a warning in a test', () => {
    const text =
      'test: t\ndomains: [a.example.com]\nrequests:\n' +
      '  - url: http://a.example.com/\n    headers:\n      X-A:\n      X-B: null\n' +
      '    expect: {response.status: 200}\n'
    const { diagnostics } = loadTests(createFolder({ 'tests/a.yaml': text }), listGlobs())
    expect(
      diagnostics.map(({ line, severity, detail }) => `${line}:7 ${severity} ${detail}`),
    ).toEqual([`6:7 ${emptyWarning}`])
  })

  it('takes the same out as null, which has no warning', () => {
    for (const none of ['null', '~', '']) {
      const workspace = createWorkspace({
        'domains/a.yaml': `${below}config: {https: {http2: ${none}}}\n`,
      })
      expect(workspace.diagnostics).toHaveLength(none === '' ? 1 : 0)
      expect(listValues(workspace, 'a.example.com')).toEqual({
        https: { cert_id: 1, force_https: 0 },
      })
    }
    expect(validate(`${below}config: {https: {ocsp: null}, origin: ~}\n`)).toEqual([])
  })
})

describe('hints', () => {
  const star = 'Put quotes around text that begins with "*", such as "*.example.com".'

  it.each([
    ['a: *.example.com\n', '1:4', star],
    ['a: [b, *.example.com]\n', '1:8', star],
    ['a:\n  - *\n', '2:5', star],
    ['a: *.jpg,*.png\n', '1:4', star],
    ['<<: {a: 1}\n', '1:1', 'merge keys ("<<") are not supported. '],
    ['a: &x {b: 1}\nc: {<<: *x}\n', '2:5', 'merge keys ("<<") are not supported. '],
    ['a: {b, c: 1}\n', '1:5', 'got a key alone. A list is written in brackets: "[a, b]".'],
    [
      'a:\n  b: 1\n<<<<<<< HEAD\n  c: 1\n=======\n  c: 2\n>>>>>>> main\n---\nd: 1\n',
      '3:1',
      'unresolved merge conflict',
    ],
    ['<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> main\n', '1:1', 'unresolved merge conflict'],
    ['a: 1\n=======\na: 2\n>>>>>>> main\n', '2:1', 'unresolved merge conflict'],
  ])('has one error for %j', (text, place, detail) => {
    const { diagnostics } = parseYaml({ path: 'a.yaml', text })
    const [first] = diagnostics
    expect(diagnostics).toHaveLength(1)
    expect(`${first?.line}:${first?.column}`).toBe(place)
    expect(first?.detail).toContain(detail)
  })

  it('finds no conflict in texts and comments', () => {
    const text = '# =======\na: |\n  =======\n  <<<<<<< HEAD\nb: "<<<<<<< HEAD"\n'
    expect(parseAnyYaml({ path: 'a.yaml', text }).diagnostics).toEqual([])
  })

  it.each([
    ['https: {cert_id: 1, http2: yes}', 'Did you mean "on"?'],
    ['https: {cert_id: 1, http2: No}', 'Did you mean "off"?'],
    ['https: {cert_id: 1, ocsp: true}', 'Did you mean "on"?'],
    ['cache_rule: [{type: 3, pattern: /, time: 1, ignore_query: yes}]', 'Did you mean "on"?'],
    ['ip_black_list: {list: [192.0.2.1/32]}', '"192.0.2.1/32". Write "192.0.2.1" for a single'],
    ['ip_black_list: {list: [192.0.0.0/22]}', 'Split it into 4 networks of /24.'],
    ['ip_black_list: {list: [10.0.0.0/12]}', 'Split it into 16 networks of /16.'],
    ['ip_black_list: {list: [192.0.2.0/25]}', 'List its 128 addresses.'],
    ['origin: {default_master: 192.0.2.1/32}', 'Write "192.0.2.1" for a single address.'],
  ])('says for %s: %s', (item, hint) => {
    expect(validate(`${head}  ${item}\n`).join('\n')).toContain(hint)
  })

  it('says for "on" where a truth value belongs: true', () => {
    expect(() => validate(`${head}  {}\n`, 'allowLiteralSecrets: on\n')).toThrow(
      'expected true or false, got "on". Did you mean "true"?',
    )
  })

  it('says how a manifest lists profiles', () => {
    expect(validate('domain: a.example.com\nprofile: p\nconfig: {}\n').join('\n')).toContain(
      'Write "profiles: [NAME]" for "profile" if this is a manifest',
    )
  })
})
