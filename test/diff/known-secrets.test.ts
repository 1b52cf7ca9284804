import { describe, expect, it } from 'vitest'
import { diffSnapshots } from '../../src/diff/diff-snapshots.ts'
import { replaceKnownSecrets } from '../../src/diff/known-secrets.ts'
import { createConfirmedState, type ItemState, type Snapshot } from '../../src/model/item.ts'

const a = 'a.example.com'
const given = {
  pattern: '.*',
  time_format: 'timestamp',
  deadtime: 60,
  req_uri_type: 1,
  origin_type: 1,
  timename: 'time',
  keyname: 'key',
}
const stamp = (key: string) => ({ ...given, key: { $secret: key } })
const buildSnapshot = (state: ItemState, item = 'visit_timestamp'): Snapshot =>
  new Map([[a, new Map([[item, state]])]])
const recorded = buildSnapshot({
  ...createConfirmedState(stamp('scrypt:1')),
  templates: { 'scrypt:1': 'signing' },
})
const heads = (...values: string[]) => ({
  type: 'reset',
  list: values.map((value, i) => ({ name: `X-${i}`, value: { $secret: value } })),
})

describe('a secret whose value is not available', () => {
  it('is unchanged while its name is the recorded one', () => {
    const desired = replaceKnownSecrets(
      buildSnapshot(createConfirmedState(stamp('unresolved:signing'))),
      recorded,
    )
    const templates = { 'scrypt:1': 'signing' }
    expect(desired).toEqual(
      buildSnapshot({ ...createConfirmedState(stamp('scrypt:1')), templates }),
    )
    expect(diffSnapshots(recorded, desired).changes).toEqual([])
  })

  it('is a change under another name', () => {
    const desired = replaceKnownSecrets(
      buildSnapshot(createConfirmedState(stamp('unresolved:other'))),
      recorded,
    )
    expect(diffSnapshots(recorded, desired).changes).toMatchObject([
      { action: 'change', after: { key: { $secret: 'unresolved:other' } } },
    ])
  })

  it('is set if the item or its reference is unrecorded', () => {
    const desired = buildSnapshot(createConfirmedState(stamp('unresolved:signing')))
    expect(replaceKnownSecrets(desired, new Map())).toEqual(desired)
    expect(
      replaceKnownSecrets(desired, buildSnapshot(createConfirmedState(stamp('scrypt:1')))),
    ).toEqual(desired)
  })

  it('does not hide another difference', () => {
    const desired = replaceKnownSecrets(
      buildSnapshot(createConfirmedState({ ...stamp('unresolved:signing'), deadtime: 90 })),
      recorded,
    )
    expect(diffSnapshots(recorded, desired).changes[0]?.patch).toEqual([
      { op: 'replace', path: '/deadtime', value: 90 },
    ])
  })

  it('inside a string is matched by the whole string', () => {
    const before = buildSnapshot(
      {
        ...createConfirmedState(heads('scrypt:1', 'scrypt:2')),
        templates: { 'scrypt:1': 'Bearer ${secret:t}', 'scrypt:2': 't' },
      },
      'add_response_head',
    )
    const known = replaceKnownSecrets(
      buildSnapshot(
        createConfirmedState(heads('unresolved:Bearer ${secret:t}', 'unresolved:t')),
        'add_response_head',
      ),
      before,
    )
    expect(diffSnapshots(before, known).changes).toEqual([])
    const other = replaceKnownSecrets(
      buildSnapshot(
        createConfirmedState(heads('unresolved:Basic ${secret:t}', 'unresolved:t')),
        'add_response_head',
      ),
      before,
    )
    expect(diffSnapshots(before, other).changes).toHaveLength(1)
  })
})

describe('a secret whose value is available', () => {
  it('is a change under the same name if the value changed', () => {
    const desired = replaceKnownSecrets(
      buildSnapshot(createConfirmedState(stamp('scrypt:9'))),
      recorded,
    )
    expect(diffSnapshots(recorded, desired).changes).toMatchObject([
      { patch: [{ op: 'replace', path: '/key/$secret', value: 'scrypt:9' }] },
    ])
  })
})

it('leaves both snapshots unchanged', () => {
  const desired = buildSnapshot(createConfirmedState(stamp('unresolved:signing')))
  replaceKnownSecrets(desired, recorded)
  expect(desired).toEqual(buildSnapshot(createConfirmedState(stamp('unresolved:signing'))))
})
