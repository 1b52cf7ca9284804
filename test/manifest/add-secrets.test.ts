import { describe, expect, it } from 'vitest'
import { formatYaml } from '../../src/manifest/format-yaml.ts'
import { addSecrets } from '../../src/manifest/add-secrets.ts'

const one = [{ name: 'key', variable: 'KEY' }]
const comment = (indent: string) =>
  `${indent}# Added by "edgewise import". Set each variable to the value that the service ` +
  `has, or\n` +
  `${indent}# use {file: path} or {command: [program, argument]} instead of {env: NAME}.\n`
const block = (indent: string) => `${comment(indent)}${indent}key: {env: KEY}\n`

const add = (text: string, secrets = one) => addSecrets({ path: 'edgewise.yaml', text }, secrets)

describe('addSecrets', () => {
  it.each([
    [
      'a file without secrets',
      'version: 1 # v\n# end\n',
      `version: 1 # v\n# end\nsecrets:\n${block('  ')}`,
    ],
    ['a file without a last line end', 'version: 1', `version: 1\nsecrets:\n${block('  ')}`],
    ['an indented file', '  version: 1\n', `  version: 1\n  secrets:\n${block('    ')}`],
    [
      'a block, before what follows it',
      'secrets:\n    # ours\n    a: {env: A} # a\n\n# next\nversion: 1\n',
      `secrets:\n    # ours\n    a: {env: A} # a\n${block('    ')}\n# next\nversion: 1\n`,
    ],
    [
      'a block of blocks',
      'secrets:\n  a:\n    command:\n      - x\n      - y\nversion: 1',
      `secrets:\n  a:\n    command:\n      - x\n      - y\n${block('  ')}version: 1`,
    ],
    [
      'a block at the end, without a line end',
      'version: 1\nsecrets:\n  a:\n    env: A',
      `version: 1\nsecrets:\n  a:\n    env: A\n${block('  ')}`,
    ],
    [
      'an empty block',
      'secrets: # none\nversion: 1\n',
      `secrets: # none\n${block('  ')}version: 1\n`,
    ],
    [
      'an empty flow',
      'version: 1\nsecrets: {} # s\n',
      `version: 1\n${comment('')}secrets: {key: {env: KEY}} # s\n`,
    ],
    [
      'a flow of several lines',
      'secrets: {\n  a: {env: A}, # a\n}\nversion: 1\n',
      `${comment('')}secrets: {\n  a: {env: A}, key: {env: KEY}, # a\n}\nversion: 1\n`,
    ],
    ['JSON', '{"version": 1}', '{"version": 1, "secrets": {"key": {"env": "KEY"}}}'],
    [
      'JSON with secrets',
      '{"secrets": {"a": {"env": "A"}}, "version": 1}',
      '{"secrets": {"a": {"env": "A"}, "key": {"env": "KEY"}}, "version": 1}',
    ],
    [
      'a file with other line ends',
      'version: 1\r\n',
      `version: 1\nsecrets:\n${block('  ')}`.replaceAll('\n', '\r\n'),
    ],
  ])('extends %s', (_what, before, after) => {
    expect(add(before)).toBe(after)
  })

  it('adds a block where "fmt" would sort it, before the comment of the next key', () => {
    const text = 'version: 1\n\n# where state is\n# stored\nstate: {store: dir}\nnotes: {}\n'
    const added = add(text) ?? ''
    expect(added).toBe(
      `version: 1\n\nsecrets:\n${block('  ')}# where state is\n# stored\n` +
        `state: {store: dir}\nnotes: {}\n`,
    )
    expect(formatYaml({ path: 'edgewise.yaml', text: added })).toEqual({ text: added })
  })

  it('does not repeat its comment', () => {
    const two = [{ name: 'other', variable: 'OTHER' }]
    expect(add(add('version: 1\n') ?? '', two)).toBe(
      `version: 1\nsecrets:\n${block('  ')}  other: {env: OTHER}\n`,
    )
    expect(add(add('secrets: {}\n') ?? '', two)).toBe(
      `${comment('')}secrets: {key: {env: KEY}, other: {env: OTHER}}\n`,
    )
  })

  it('adds several secrets under one comment', () => {
    const two = [...one, { name: 'other', variable: 'OTHER' }]
    expect(add('version: 1\n', two)).toBe(
      `version: 1\nsecrets:\n${block('  ')}  other: {env: OTHER}\n`,
    )
  })

  it.each([
    ['an alias', 'defaults: &a {}\nsecrets: *a\n'],
    ['two documents', 'version: 1\n---\nversion: 1\n'],
    ['an end of the document', 'version: 1\n...\n'],
    ['a list', '- version\n'],
    ['a text as secrets', 'secrets: none\n'],
  ])('does not extend a file with %s', (_what, text) => {
    expect(add(text)).toBeNull()
  })
})
