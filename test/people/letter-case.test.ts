import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { expect, it } from 'vitest'
import { lowerAscii } from '../../src/core/model/text/lower-ascii.ts'

const root = join(import.meta.dirname, '../../src')
/** Rooms and files that compare names, addresses and headers that show who somebody is. */
const rooms = new RegExp(
  '^(?:core/model/people|operations/people|server/(?:people|branch)|manifest/owners)/' +
    '|/(?:people-rules|find-author)\\.ts$',
)
/** What brings somebody into any other file. */
const about = /from '[^']*\/people\/[^']*'|\bemail\b|%[ac][eE]\b|CODEOWNERS/
/** What makes letters equal that are none of ASCII: U+212A becomes `k`, and U+017F matches `s`. */
const folding = new RegExp(
  '\\.(?:to(?:Locale)?(?:Lower|Upper)Case|localeCompare|normalize)\\b|Intl\\.Collator|' +
    '(?<=[^\\s<*/])/(?=[dgimsuvy]*i)(?=[dgimsuvy]*[uv])[dgimsuvy]+\\b',
)

const files = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => join(entry.parentPath, entry.name))
  .map((path) => ({
    path: relative(root, path).split(sep).join('/'),
    text: readFileSync(path, 'utf8'),
  }))
  .filter(
    ({ path, text }) => !path.includes('/generated/') && (rooms.test(path) || about.test(text)),
  )

it('of who somebody is only A to Z is folded, wherever people are compared', () => {
  const paths = files.map(({ path }) => path)
  for (const path of [
    'core/model/people/roles.ts',
    'manifest/owners/code-owners.ts',
    'manifest/workspace-file/workspace-config.ts',
    'operations/people/owners.ts',
    'server/branch/clone.ts',
    'server/pages/page-routes.ts',
    'server/people/people.ts',
  ])
    expect(paths).toContain(path)
  expect(files.flatMap(({ path, text }) => (folding.test(text) ? [path] : []))).toEqual([])
})

it.each([
  'name.toLowerCase()',
  'a.toLocaleUpperCase()',
  'a.localeCompare(b)',
  "a.normalize('NFKC')",
  'names.map(String.prototype.toLowerCase.call)',
  '/^ada$/iu.test(name)',
  '/^ada$/vi.test(name)',
  'new Intl.Collator()',
])('is found in: %s', (text) => expect(text).toMatch(folding))

it('is done for no other letter', () => {
  expect(lowerAscii('ADA@Example.com')).toBe('ada@example.com')
  for (const text of ['\u212A', '\u0130', '\u00C4', '\uFF21', 'E\u0301', '\u017F'])
    expect(lowerAscii(text)).toBe(text === 'E\u0301' ? 'e\u0301' : text)
})
