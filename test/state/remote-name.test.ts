import { expect, it } from 'vitest'
import { parseRemoteName } from '../../src/state/git/ask-git.ts'

const name = 'git.example.com/team/cdn'

it.each([
  ['https://git.example.com/team/cdn.git', name],
  ['https://user:secret@git.example.com:8443/Team/cdn/', name],
  ['ssh://git@git.example.com:2222/team/cdn.git', name],
  ['git@git.example.com:team/cdn.git', name],
  ['git.example.com:/team/cdn', name],
  ['git://git.example.com/team/cdn', name],
  ['/srv/git/cdn.git', null],
  ['../cdn.git', null],
  ['file:///srv/git/cdn.git', null],
  [String.raw`C:\\git\\cdn`, null],
  ['', null],
])('the remote %s has the name %s', (address, expected) => {
  expect(parseRemoteName(address)).toBe(expected)
})
