import type { Page } from '../../src/model/page.ts'

/** Builds a page of three domains and two items: write 1 is a rectangle of two by two. */
export function buildPage(changes: Partial<Page> = {}): Page {
  const part = (item: number, action: 'set' | 'change', isDestructive = false) => ({
    item,
    action,
    note: '',
    isDestructive,
    lines: [{ action, indent: 0, text: 'time  60', isRemark: false }],
  })
  const change = (domain: number, of: number, write: number) => ({
    domain,
    part: of,
    writes: [write],
    place: `domains/${domain}.yaml:3`,
    state: null,
  })
  return {
    format: 'edgewise.page/1',
    kind: 'plan',
    title: 'Plan',
    sentence: '5 changes of 3 domains in 2 writes.',
    facts: [['Workspace', 'storefront']],
    domains: ['css.example.com', 'img.example.com', 'shop.example.com'],
    items: ['https', 'timeout'],
    parts: [part(0, 'change'), part(1, 'set'), part(1, 'change', true)],
    changes: [change(0, 0, 0), change(1, 0, 0), change(0, 1, 0), change(1, 1, 0), change(2, 2, 1)],
    writes: [
      {
        id: 1,
        wave: 1,
        domains: [0, 1],
        items: [
          { item: 0, form: 'replace' },
          { item: 1, form: 'replace' },
        ],
        seconds: 0,
      },
      { id: 2, wave: 2, domains: [2], items: [{ item: 1, form: 'replace' }], seconds: 600 },
    ],
    waves: [
      { wave: 1, domains: 2, from: 0, to: 0, waitSeconds: 600, needsApproval: false },
      { wave: 2, domains: 1, from: 600, to: 600, waitSeconds: 0, needsApproval: true },
    ],
    callsPerMinute: 30,
    apart: [],
    warnings: [],
    ...changes,
  }
}
