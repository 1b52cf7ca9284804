// @module-tag often
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { formatUnifiedDiff } from '../../src/outlets/report/text/unified-diff.ts'
import { fc } from '../runs.ts'
import { createFolder } from '../manifest/test-workspace.ts'

const show = (before: string, after: string) =>
  formatUnifiedDiff('a.txt', before, after, (side, line) =>
    String((side === 'before' ? before : after).split('\n')[line - 1]),
  )

it('shows removed and changed lines with three lines around them', () => {
  const before = 'a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\n'
  expect(show(before, before.replace('b\n', '').replace('l', 'L'))).toBe(
    '--- a/a.txt\n+++ b/a.txt\n@@ -1,5 +1,4 @@\n a\n-b\n c\n d\n e\n' +
      '@@ -9,5 +8,5 @@\n i\n j\n k\n-l\n+L\n m\n',
  )
})

it('shows what git applies', () => {
  const folder = createFolder({})
  const line = fc.constantFrom('a', 'b', 'c', '')
  const texts = fc.tuple(fc.array(line, { minLength: 1 }), fc.array(line, { minLength: 1 }))
  fc.assert(
    fc.property(texts, ([one, other]) => {
      const [before, after] = [`${one.join('\n')}x\n`, `${other.join('\n')}x\n`]
      fc.pre(before !== after)
      writeFileSync(join(folder, 'a.txt'), before)
      const input = show(before, after)
      execFileSync('git', ['apply', '--unidiff-zero', '-'], { cwd: folder, input })
      expect(execFileSync('cat', [join(folder, 'a.txt')], { encoding: 'utf8' })).toBe(after)
    }),
    { numRuns: 20 },
  )
})
