import { describe, expect, it } from 'vitest'
import { formatReport } from '../../../src/outlets/report/page/format-page.ts'
import { formatTable, type Table } from '../../../src/outlets/report/page/format-table.ts'
import { beginPage } from '../../../src/outlets/report/page/page-about.ts'
import { buildAbout } from './build-page.ts'

const build = (text: string, about = buildAbout()) =>
  formatReport(
    beginPage(`${text} of owners`, text, { ...about, facts: [['Commit', text]], warnings: [text] }),
    formatTable(
      { caption: text, columns: ['Domain', text], rows: [['a.example', text]], note: text },
      about.redact,
    ),
  )
const readMain = (html: string) => /<main.*<\/main>/s.exec(html)?.[0] ?? ''

describe('a report with a table', () => {
  it('names domains that lead to their pages on a server', () => {
    const page = beginPage('drift', 'Drift', buildAbout())
    const notices = [{ kind: 'on-hold' as const, text: 'held', domains: ['a.example.com'] }]
    const format = (nav: string | null) => formatReport({ ...page, notices }, '', { nav })
    const link = '<a href="/domains/a.example.com">a.example.com</a>'
    expect([format(null).includes(link), format('').includes(link)]).toEqual([false, true])
  })

  it('is readable without scripts', () => {
    const main = readMain(build('Ann'))
    expect(main).toContain('<p class="eyebrow">Edgewise Ann of owners: storefront</p>')
    expect(main).toContain('<h1 data-sentence>Ann</h1>')
    expect(main).toContain('<dt>Commit</dt><dd>Ann</dd>')
    expect(main).toContain('<h2 id="warnings">1 warning</h2><ul><li>Ann</li></ul>')
    expect(main).toContain(
      '<table><caption>Ann</caption><thead><tr><th scope="col">Domain</th>' +
        '<th scope="col">Ann</th></tr></thead>' +
        '<tbody><tr><td>a.example</td><td>Ann</td></tr></tbody></table><p>Ann</p>',
    )
  })

  it.each(['</table><script>alert(1)</script>', '"><img src=x>', 'a\u202eb\u0000'])(
    'escapes %j in each text',
    (text) => {
      const listTags = (html: string) => readMain(html).match(/<[!/a-z-][^>]*/gi)?.length
      const html = build(text)
      expect(listTags(html)).toBe(listTags(build('Ann')))
      expect(html.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    },
  )

  it('has no secret', () => {
    const redact = (text: string) => text.replaceAll('hunter2', '***')
    const html = build('hunter2', buildAbout({ workspace: 'hunter2', redact }))
    expect(html).toContain('<td>***</td>')
    expect(html).not.toContain('hunter2')
  })

  it('cuts long texts, and names their length', () => {
    const about = buildAbout({ warnings: ['x'.repeat(1_000_000)] })
    const head = beginPage('plan', 'y'.repeat(5000), about)
    expect(head.warnings[0]).toMatch(/^x{3000}… \(cut, 1,000,000 characters\) …x{1000}$/)
    expect(head.sentence).toMatch(/^y{3000}… \(cut, 5,000 characters\) …y{1000}$/)
  })
})

describe('a table', () => {
  const draw = (rows: Table['rows']) =>
    formatTable({ caption: 'Domains', columns: ['Domain'], rows }, (text) => text)

  it('leaves out the rows that do not fit, and counts them', () => {
    const html = draw(Array.from({ length: 4321 }, () => [{ html: 'x'.repeat(990) }]))
    expect(html.match(/<td>/g)).toHaveLength(1000)
    expect(html).toContain('<p>3,321 more: this file would be too large with them.</p>')
    expect(draw([['a.example']])).not.toContain('<p>')
  })

  it('cuts a long cell, and names its length', () => {
    expect(draw([['x'.repeat(5000)]])).toContain('x… (cut, 5,000 characters) …xx')
  })
})
