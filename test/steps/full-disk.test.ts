// @module-tag often
import { expect, it } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import type { Disk } from '../../src/state/folder/disk.ts'
import type { JsonObject } from '../../src/core/model/json.ts'
import { place, setStage } from './stage.ts'

setStage()

const domains = Array.from({ length: 25 }, (_, i) => `d${i}.example.com`)

/** Creates a disk that is full after this number of writes. */
function fillAfter(count: number): Disk {
  let left = count
  const use = () => {
    if (left-- <= 0) throw new EdgewiseError('record-unreachable', 'ENOSPC: no space left')
  }
  return {
    ...realDisk,
    create: async (path, text) => {
      use()
      return realDisk.create(path, text)
    },
    append: async (path, text, fence) => {
      use()
      return realDisk.append(path, text, fence)
    },
  }
}

async function listInDoubt(): Promise<string[]> {
  const listed = await Promise.all(
    domains.map(async (domain) => {
      const items = await place.recorded(domain)
      return Object.entries(items as JsonObject).flatMap(([item, state]) =>
        (state as JsonObject)['status'] === 'in-doubt' ? [`${item} of ${domain}`] : [],
      )
    }),
  )
  return listed.flat().toSorted()
}

/** Returns the items in the lines about in-doubt writes. */
function listNamed(err: string): string[] {
  const lines = err.replaceAll(/\n +/g, ' ').split('\n')
  return lines
    .flatMap((line) => {
      const [, items = '', names = ''] = /^in-doubt: (.*?) of (.*?): /.exec(line) ?? []
      const named = names.split(', ')
      const pairs = items
        .split(', ')
        .flatMap((item) => named.map((domain) => `${item} of ${domain}`))
      return items === '' ? [] : pairs
    })
    .toSorted()
}

it('a disk that fills up names every item that the state has as in-doubt', async () => {
  for (const [i, domain] of domains.entries())
    place.manifest(domain, {
      timeout: { time: 60 + i },
      post_upload_size_limit: { limit_value: i + 1 },
    })
  let found = 0
  for (let count = 5; count < 24; count += 6) {
    place.disk = fillAfter(count)
    const { code, err } = await place.cli('apply', '--yes')
    place.disk = realDisk
    place.otherProcessesDead = true
    const inDoubt = await listInDoubt()
    if (code === 3) {
      found += inDoubt.length
      expect(listNamed(err)).toEqual(inDoubt)
    }
    await place.cli('state', 'forget', ...domains, '--yes')
  }
  expect(found).toBeGreaterThan(20)
})
