import type { PageWave } from '../../src/core/model/page/page-rollout.ts'
import type { Page } from '../../src/core/model/page/page.ts'

/** Builds a wave of one domain and one write, but for what is given. */
export function buildWave(wave: number, given: Partial<PageWave> = {}): PageWave {
  return {
    wave,
    domains: 1,
    times: { writes: 1, from: 0, to: 0, waitSeconds: 0 },
    approval: null,
    health: null,
    names: [],
    ...given,
  }
}

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
      buildWave(1, { times: { writes: 1, from: 0, to: 0, waitSeconds: 600 } }),
      buildWave(2, { approval: 'needs approval' }),
    ],
    callsPerMinute: 30,
    notices: [],
    warnings: [],
    ...changes,
  }
}
