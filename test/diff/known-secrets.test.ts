import { describe, expect, it } from 'vitest'
import { diffSnapshots } from '../../src/core/diff/diff-snapshots.ts'
import { replaceKnownSecrets, representSecrets } from '../../src/core/diff/known-secrets.ts'
import { createItemState, type ItemState, type Snapshot } from '../../src/core/model/item.ts'

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
  ...createItemState(stamp('scrypt:1')),
  templates: { 'scrypt:1': 'signing' },
})
const heads = (...values: string[]) => ({
  type: 'reset',
  list: values.map((value, i) => ({ name: `X-${i}`, value: { $secret: value } })),
})

it('resolves references, and keeps lists canonical', () => {
  const list = (...secrets: string[]) =>
    buildSnapshot(
      createItemState({ list: secrets.map(($secret) => ({ $secret })), mode: 'cover' }),
      'ip_black_list',
    )
  const values: Record<string, string> = { a: 'scrypt:9', b: 'scrypt:8' }
  const represent = (secret: string) => values[secret.slice('unresolved:'.length)] ?? secret
  const desired = list('unresolved:a', 'unresolved:b', 'unresolved:c')
  expect(representSecrets(desired, new Map(), represent)).toEqual(
    list('scrypt:8', 'scrypt:9', 'unresolved:c'),
  )
})

describe('a secret whose value is not available', () => {
  it('can count as recorded while its name is the recorded one', () => {
    const desired = replaceKnownSecrets(
      buildSnapshot(createItemState(stamp('unresolved:signing'))),
      recorded,
    )
    const templates = { 'scrypt:1': 'signing' }
    expect(desired).toEqual(buildSnapshot({ ...createItemState(stamp('scrypt:1')), templates }))
    expect(diffSnapshots(recorded, desired).changes).toEqual([])
  })

  it.each(['signing', 'other'])('is a conditional change: %s', (reference) => {
    const desired = buildSnapshot(createItemState(stamp(`unresolved:${reference}`)))
    expect(diffSnapshots(recorded, desired)).toMatchObject({
      changes: [
        {
          action: 'change',
          reason: 'secret-unknown',
          before: { key: { $secret: 'scrypt:1' } },
          after: { key: { $secret: `unresolved:${reference}` } },
        },
      ],
      unchanged: 0,
    })
  })

  it('is an ordinary change with another difference, in-doubt or unrecorded', () => {
    const desired = buildSnapshot(createItemState(stamp('unresolved:signing')))
    const states: [Snapshot, string][] = [
      [buildSnapshot(createItemState({ ...stamp('scrypt:1'), deadtime: 90 })), 'differs'],
      [buildSnapshot(createItemState({ ...stamp('scrypt:1'), key: 'plain' })), 'differs'],
      [
        buildSnapshot({ status: 'in-doubt', candidates: [stamp('scrypt:1'), stamp('scrypt:2')] }),
        'in-doubt',
      ],
      [new Map(), 'differs'],
    ]
    for (const [state, reason] of states)
      expect(diffSnapshots(state, desired).changes).toMatchObject([{ reason }])
  })

  it('in a sorted list is compared in any order', () => {
    const list = (...secrets: string[]) =>
      buildSnapshot(
        createItemState({
          list: ['192.0.2.1', ...secrets.map(($secret) => ({ $secret }))],
          mode: 'cover',
        }),
        'ip_black_list',
      )
    const desired = list('unresolved:a', 'unresolved:b')
    const changes = (before: Snapshot) => diffSnapshots(before, desired).changes
    expect(changes(list('scrypt:8', 'scrypt:9'))).toMatchObject([{ reason: 'secret-unknown' }])
    expect(changes(list('scrypt:8'))).toMatchObject([{ reason: 'differs' }])
  })

  it('is set if the item or its reference is unrecorded', () => {
    const desired = buildSnapshot(createItemState(stamp('unresolved:signing')))
    expect(replaceKnownSecrets(desired, new Map())).toEqual(desired)
    expect(replaceKnownSecrets(desired, buildSnapshot(createItemState(stamp('scrypt:1'))))).toEqual(
      desired,
    )
  })

  it('does not hide another difference', () => {
    const desired = replaceKnownSecrets(
      buildSnapshot(createItemState({ ...stamp('unresolved:signing'), deadtime: 90 })),
      recorded,
    )
    expect(diffSnapshots(recorded, desired).changes[0]?.patch).toEqual([
      { op: 'replace', path: '/deadtime', value: 90 },
    ])
  })

  it('inside a string is matched by the whole string', () => {
    const before = buildSnapshot(
      {
        ...createItemState(heads('scrypt:1', 'scrypt:2')),
        templates: { 'scrypt:1': 'Bearer ${secret:t}', 'scrypt:2': 't' },
      },
      'add_response_head',
    )
    const known = replaceKnownSecrets(
      buildSnapshot(
        createItemState(heads('unresolved:Bearer ${secret:t}', 'unresolved:t')),
        'add_response_head',
      ),
      before,
    )
    expect(diffSnapshots(before, known).changes).toEqual([])
    const other = replaceKnownSecrets(
      buildSnapshot(
        createItemState(heads('unresolved:Basic ${secret:t}', 'unresolved:t')),
        'add_response_head',
      ),
      before,
    )
    expect(diffSnapshots(before, other).changes).toHaveLength(1)
  })
})

describe('a secret whose value is available', () => {
  it('is a change under the same name if the value changed', () => {
    const desired = replaceKnownSecrets(buildSnapshot(createItemState(stamp('scrypt:9'))), recorded)
    expect(diffSnapshots(recorded, desired).changes).toMatchObject([
      { patch: [{ op: 'replace', path: '/key/$secret', value: 'scrypt:9' }] },
    ])
  })
})

it('leaves both snapshots unchanged', () => {
  const desired = buildSnapshot(createItemState(stamp('unresolved:signing')))
  replaceKnownSecrets(desired, recorded)
  expect(desired).toEqual(buildSnapshot(createItemState(stamp('unresolved:signing'))))
})
