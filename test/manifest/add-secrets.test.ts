import { describe, expect, it } from 'vitest'
import { formatYaml } from '../../src/manifest/yaml/format-yaml.ts'
import { addSecrets } from '../../src/manifest/secrets/add-secrets.ts'

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
      `version: 1 # v\nsecrets:\n${block('  ')}\n# end\n`,
    ],
    [
      'a block, before what follows it',
      'version: 1\nsecrets:\n    # ours\n    a: {env: A} # a\n\n# next\nchecks: {}\n',
      `version: 1\nsecrets:\n  # ours\n  a: {env: A} # a\n${block('  ')}\n# next\nchecks: {}\n`,
    ],
    [
      'a block of blocks, without a line end',
      'version: 1\nsecrets:\n  a:\n    env: A',
      `version: 1\nsecrets:\n  a:\n    env: A\n${block('  ')}`,
    ],
    [
      'an empty block',
      'version: 1\nsecrets: # none\n',
      `version: 1\nsecrets:\n  # none\n${block('  ')}`,
    ],
    [
      'a flow',
      'version: 1\nsecrets: {a: {env: A}} # s\n',
      'version: 1\nsecrets: {a: {env: A}, key: {env: KEY}} # s\n',
    ],
    [
      'a file with other line ends',
      'version: 1\r\n',
      `version: 1\nsecrets:\n${block('  ')}`.replaceAll('\n', '\r\n'),
    ],
    [
      'a file in the order of "fmt"',
      'version: 1\n\n# where state is\nstate: {store: dir}\n',
      `version: 1\nsecrets:\n${block('  ')}\n# where state is\nstate: {store: dir}\n`,
    ],
  ])('extends %s', (_what, before, after) => {
    expect(add(before)).toBe(after)
    expect(formatYaml({ path: 'edgewise.yaml', text: after })).toEqual({ text: after })
  })

  it('does not repeat its comment', () => {
    const two = [{ name: 'other', variable: 'OTHER' }]
    expect(add(add('version: 1\n') ?? '', two)).toBe(
      `version: 1\nsecrets:\n${block('  ')}  other: {env: OTHER}\n`,
    )
    expect(add('version: 1\n', [...one, ...two])).toBe(
      `version: 1\nsecrets:\n${block('  ')}  other: {env: OTHER}\n`,
    )
  })

  it.each([
    ['an alias', 'defaults: &a {}\nsecrets: *a\n'],
    ['two documents', 'version: 1\n---\nversion: 1\n'],
    ['a list', '- version\n'],
    ['a text as secrets', 'secrets: none\n'],
  ])('does not extend a file with %s', (_what, text) => {
    expect(add(text)).toBeNull()
  })
})
