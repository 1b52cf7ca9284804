import { expect, it } from 'vitest'
import { isOwnPath } from '../../src/state/format/log-file.ts'
import { buildStatePaths } from '../../src/state/format/state-paths.ts'

const key = { id: 'test', address: 'https://service' }
const paths = buildStatePaths(key)
const owner = { ...key, account: 'default' }

// A change with any other path goes to the files one by one: a killed command leaves a part of it.
it.each([
  paths.address,
  paths.chainEntry(1),
  paths.chainHead,
  paths.signature(1),
  paths.domain('a.example.com'),
  paths.doubt('one'),
  paths.entry('one'),
  paths.salt('00'),
  paths.unlock('00'),
])('%s may wait in the log of its workspace', (path) => {
  expect(isOwnPath(owner, path)).toBe(true)
  expect(isOwnPath({ ...owner, address: 'https://other' }, path)).toBe(false)
})

it('a file that others write without the lock may not', () => {
  expect(isOwnPath(owner, paths.traffic)).toBe(false)
})
