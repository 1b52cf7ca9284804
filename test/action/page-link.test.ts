import { describe, expect, it } from 'vitest'
import { addPageLink } from '../../src/cli/action/page-link.ts'

const url = 'https://code-host.example/team/cdn/actions/runs/1/artifacts/2'
const link = `[All changes as a page](${url})`

describe('addPageLink', () => {
  it('links below the summary, where a comment that is too long still has it', () => {
    const report = '### Edgewise plan\n\nPlan: 1 to set\n\n| a |\n\nmore\n'
    expect(addPageLink(report, url)).toBe(
      `### Edgewise plan\n\nPlan: 1 to set\n\n${link}\n\n| a |\n\nmore\n`,
    )
  })

  it.each(['### Edgewise plan\n\nNo changes.\n', 'text', ''])(
    'links at the end of %j',
    (report) => {
      expect(addPageLink(report, url)).toBe(`${report.trimEnd()}\n\n${link}\n`)
    },
  )

  it('adds nothing without an address', () => {
    expect(addPageLink('text', '')).toBe('text')
  })

  it.each([
    [
      'https://a.example/x)[y](https://b.example',
      'https://a.example/x%29%5By%5D%28https://b.example',
    ],
    ['https://a.example/<img>*`|x', 'https://a.example/%3Cimg%3E%2A%60%7Cx'],
    ['https://a.example/?a=1&lt;=2', 'https://a.example/?a=1&amp;lt;=2'],
    ['https://a.example#"x\'\\', 'https://a.example/#%22x%27%5C'],
  ])('keeps %s one address', (address, written) => {
    expect(addPageLink('text', address)).toBe(`text\n\n[All changes as a page](${written})\n`)
  })

  it.each([
    'http://a.example/x',
    'javascript:alert(1)',
    'https:',
    '/relative',
    'https://name:canary@a.example/',
    'https://canary@a.example/',
    'https://:canary@a.example/',
    'https://a.example/x\n\n@everybody',
    'https://a.example/x y',
    'https://a.example/\u202e',
  ])('refuses %j, and does not print it', (address) => {
    expect(() => addPageLink('text', address)).toThrow(
      /^expected the input "page-url" to be an HTTPS address without credentials$/,
    )
  })

  it('refuses an address that leaves no room for the report', () => {
    const short = `https://a.example/${'x'.repeat(382)}`
    expect(addPageLink('text', short)).toContain(short)
    expect(() => addPageLink('text', `${short}x`)).toThrow('more than 400 characters')
  })
})
