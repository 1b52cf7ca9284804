import { describe, expect, it } from 'vitest'
import { findDifference, matchIds, parsePage } from '../../tools/docs-page.ts'

const usual = { exit: 0, asks: false, anyNumbers: false }

describe('parsePage', () => {
  it('lists the commands of shell blocks, and those that show their output', () => {
    const page = [
      'Text with `edgewise plan` is no command.',
      '```sh',
      'edgewise validate   # checks',
      '',
      '# a comment',
      'git log \\',
      '  -p',
      '```',
      '```',
      '$ edgewise fmt',
      '$ edgewise plan',
      'No changes.',
      '```',
      '```yaml',
      '$ edgewise apply',
      '```',
    ].join('\n')
    expect(parsePage(page)).toEqual([
      {
        kind: 'run',
        line: 3,
        command: 'edgewise validate   # checks',
        shown: null,
        expects: usual,
      },
      { kind: 'run', line: 7, command: 'git log \\\n  -p', shown: null, expects: usual },
      { kind: 'run', line: 10, command: 'edgewise fmt', shown: null, expects: usual },
      { kind: 'run', line: 11, command: 'edgewise plan', shown: ['No changes.'], expects: usual },
    ])
  })

  it('takes the expectations of the last command, hidden commands and files from comments', () => {
    const page = [
      '<!-- test: write domains/a.yaml -->',
      '```yaml',
      'domain: a.example.com',
      '```',
      '<!-- test: run',
      'git commit -m "x"',
      '-->',
      '<!-- test: exit 3, yes, numbers -->',
      '```sh',
      'one',
      'two',
      '```',
      '1. In a list:',
      '   <!-- a note -->',
      '<!-- test: skip it needs a terminal -->',
      '   ```sh',
      '   three',
      '   ```',
      '<!-- test: background -->',
      '```sh',
      'four',
      '```',
      '<!-- test: picture docs/a.svg',
      'five',
      'six',
      '-->',
      '<!-- test: picture docs/a.png #wave=2 .part',
      'seven',
      '-->',
    ].join('\n')
    expect(parsePage(page)).toEqual([
      {
        kind: 'write',
        line: 2,
        path: 'domains/a.yaml',
        text: 'domain: a.example.com\n',
        appends: false,
      },
      { kind: 'run', line: 6, command: 'git commit -m "x"', shown: null, expects: usual },
      { kind: 'run', line: 10, command: 'one', shown: null, expects: usual },
      {
        kind: 'run',
        line: 11,
        command: 'two',
        shown: null,
        expects: { exit: 3, asks: true, anyNumbers: true },
      },
      { kind: 'skip', line: 16, commands: 1, reason: 'it needs a terminal' },
      { kind: 'background', line: 21, command: 'four' },
      {
        kind: 'picture',
        line: 23,
        path: 'docs/a.svg',
        fragment: '',
        part: '',
        commands: ['five', 'six'],
      },
      {
        kind: 'picture',
        line: 27,
        path: 'docs/a.png',
        fragment: '#wave=2',
        part: '.part',
        commands: ['seven'],
      },
    ])
  })

  it('refuses an unknown directive, and one without a block', () => {
    expect(() => parsePage('<!-- test: skipp -->\n```sh\na\n```\n')).toThrow(
      'line 2: unknown directive "skipp"',
    )
    expect(() => parsePage('<!-- test: yes -->\ntext\n')).toThrow('line 1: no block follows')
  })
})

describe('findDifference', () => {
  const compare = (shown: string, printed: string, expects = usual): string | null =>
    findDifference(shown.split('\n'), printed.split('\n'), expects)

  it('accepts the same lines, and other ids, times, commits and fingerprints', () => {
    expect(compare('a\nb', '\na\nb\n\n')).toBeNull()
    const line = (id: string, at: string) =>
      `apply ${id} by ann, started ${at}, commit 13683210750a, (secret 86a50f41)`
    expect(
      compare(
        line('20261121T162915Z-8f4b', '2026-11-21T16:29:15.231Z'),
        line('20250101T000000Z-0000', '2025-01-01T00:00:00Z').replace('ann', 'bob@host'),
      ),
    ).toBeNull()
  })

  it('names the first line that differs, is missing or is too many', () => {
    expect(compare('a\nb', 'a\nc')).toBe('expected "b", got "c"')
    expect(compare('a\nb', 'a')).toBe('expected "b", got "(no more lines)"')
    expect(compare('a', 'a\nb')).toBe('expected no more lines, got "b"')
    expect(compare('time  60', 'time  61')).toBe('expected "time  60", got "time  61"')
  })

  it('takes … for any lines, and a broken line for a long one', () => {
    expect(compare('…\nb\n…', 'a\nb\nc')).toBeNull()
    expect(compare('…\nx\n…', 'a\nb\nc')).toBe('expected "x", got "a"')
    expect(compare('one two\n  three\n  four', 'one two three\n  four')).toBeNull()
    expect(compare('one two\n  three', 'one two four')).toBe(
      'expected "one two", got "one two four"',
    )
  })

  it('drops the question that --yes answers, and ignores numbers where it is told to', () => {
    const question = 'Plan: 2 to change\n\nApply? Type "yes" to continue: yes\nconfirmed'
    const answered = 'Plan: 2 to change\nconfirmed'
    expect(compare(question, answered, { ...usual, asks: true })).toBeNull()
    expect(compare(question, answered)).not.toBeNull()
    expect(compare('a  649k ▁▂', 'a 1.2M ▇▇', { ...usual, anyNumbers: true })).toBeNull()
    expect(compare('a  649k ▁▂', 'b 1.2M ▇▇', { ...usual, anyNumbers: true })).not.toBeNull()
  })
})

it('matchIds maps the ids that a page shows to those that were printed', () => {
  const [shown, printed] = ['20261120T120000Z-9692', '20250101T000000Z-0000']
  const ids = matchIds([`a ${shown}`, 'b'], ['x', `a ${printed}`])
  expect([...ids]).toEqual([[shown, printed]])
})
