import { afterEach, describe, expect, it } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import type { PagePoint } from '../../src/core/model/page/page-rollout.ts'
import type { DomainStatistics } from '../../src/outlets/report/live/status-codes.ts'
import { computeRevisions } from '../../src/server/pages/create-page-source.ts'
import {
  type DomainPages,
  keepLast,
  parseDomainPages,
} from '../../src/server/pages/domain-pages.ts'
import { apiToken, closeHttp, startHttp } from './http-stage.ts'
import { buildDomains, buildOverview, createPages, openRollout } from './page-stage.ts'
import { visit } from './page-visit.ts'

afterEach(closeHttp)

const built = (text: string) => ({
  text,
  format: () => '',
  at: '2026-01-02T03:00:00.000Z',
  commit: null,
  revision: '1',
})
const file = (sentence: string) => {
  const list = { title: sentence, tone: 'fine', sentence, main: '' }
  return `${JSON.stringify({ list, pages: [] })}\n`
}

describe('the pages of domains', () => {
  it('are found by their names, whatever characters come before them', () => {
    const pages = buildDomains()
    expect(pages.list.sentence).toBe('2 domains as recorded.')
    expect(pages.find('a.example.com')?.main).toBe('<hr>')
    expect(pages.find('~0123')?.title).toBe('\u00fc \ud83d\ude00')
    for (const name of ['', 'b.example.com', '__proto__', 'toString'])
      expect(pages.find(name)).toBeNull()
  })

  it('are the last ones while new ones are made, and after a failure', async () => {
    const waits: (() => void)[] = []
    const clock = { sleep: () => new Promise<void>((resolve) => waits.push(resolve)) }
    let make: () => Promise<ReturnType<typeof built>> = () => Promise.reject(new Error('first'))
    const source = keepLast(clock, () => make())
    expect(source.getLast()).toBeNull()
    await expect(source.get()).rejects.toThrow('first')
    const one = built(file('one'))
    make = () => Promise.resolve(one)
    const first = await source.get()
    expect(first.list.sentence).toBe('one')
    expect(await source.get()).toBe(first)
    let finish: (made: ReturnType<typeof built>) => void = () => undefined
    make = () => new Promise((resolve) => (finish = resolve))
    const shown = source.get()
    waits.at(-1)?.()
    expect(await shown).toBe(first)
    finish(built(file('two')))
    await new Promise((resolve) => setImmediate(resolve))
    expect(source.getLast()?.list.sentence).toBe('two')
    make = () => Promise.reject(new Error('later'))
    expect((await source.get()).list.sentence).toBe('two')
  })

  it('refuses a file that is cut', () => {
    expect(() => parseDomainPages(built('{"list":'))).toThrow(SyntaxError)
  })
})

describe('/domains', () => {
  it('has the list, the page of each domain, and the navigation', async () => {
    const { get } = await visit(await startHttp())
    const list = await get('/domains')
    expect(list.status).toBe(200)
    const html = await list.text()
    expect(html).toContain('<h1>2 domains as recorded.</h1>')
    expect(html).toContain('<a href="/domains" aria-current="page">Domains</a>')
    const domain = await get('/domains/a.example.com')
    expect(await domain.text()).toContain('<title>a.example.com</title>')
    expect((await get('/domains/%7E0123')).status).toBe(200)
  })

  it('finds a domain whose page has another name than it', async () => {
    const find = (name: string) => (name === '~.example.com' ? page : null)
    const page = buildDomains().find('a.example.com')
    const domains = async () => ({ ...buildDomains(), find })
    const { get } = await visit(await startHttp({ pages: createPages({ domains }) }))
    expect((await get('/domains/.Example.com')).status).toBe(200)
  })

  it.each(['/domains/', '/domains/b', '/domains/%E0%A4%A', '/domains/a.example.com/x'])(
    'has no %s',
    async (path) => {
      const { get } = await visit(await startHttp())
      expect((await get(path)).status).toBe(404)
    },
  )

  it('needs the login, and takes no form', async () => {
    const http = await startHttp()
    const { get, post } = await visit(http)
    const traced = '/domains/a.example.com?url=https%3A%2F%2Fa.example.com%2F&ip='
    const asked = await fetch(`${http.url}${traced}`)
    expect(asked.status).toBe(401)
    // The login leads back to the request that is traced, and to no other address.
    expect(await asked.text()).toContain(`name="to" value="${traced.replace('&', '&amp;')}"`)
    for (const [to, led] of [
      [traced, traced],
      [`${traced}#"><b>`, '/'],
      ['//evil.example.com/domains/a', '/'],
    ] as const) {
      const body = new URLSearchParams({ token: apiToken, to })
      const login = { method: 'POST', body, redirect: 'manual' } as const
      expect((await fetch(`${http.url}/login`, login)).headers.get('location')).toBe(led)
    }
    expect((await post('/domains/r1/approve', {})).status).toBe(405)
    expect((await get('/domains')).headers.get('content-security-policy')).toContain("'none'")
  })

  it('is announced while it is made the first time', async () => {
    const pages = createPages({ domains: () => new Promise(() => undefined) })
    const { get } = await visit(await startHttp({ pages }))
    const answer = await get('/domains')
    expect([answer.status, answer.headers.get('refresh')]).toEqual([202, '3'])
  })

  it('gives the overview its sentence once it is known', async () => {
    const link = '<a href="/domains">2 domains as recorded.</a>'
    const { get } = await visit(await startHttp())
    expect(await (await get('/')).text()).not.toContain(link)
    const pages = createPages({ getDomains: buildDomains })
    const other = await visit(await startHttp({ pages }))
    // They were made before what is known now.
    expect(await (await other.get('/')).text()).toContain(`${link} As of <time`)
  })

  it('leaves the overview if they fail', async () => {
    const pages = createPages({ refresh: () => Promise.reject(new Error('it fails')) })
    const { get } = await visit(await startHttp({ pages }))
    expect((await get('/')).status).toBe(200)
  })

  it('says the age of the sentence from the next drift check on', async () => {
    const drift = { at: built('').at, pending: 0, live: 1, inDoubt: 0, unanswered: 0 }
    const overview = buildOverview({ drift })
    const { plan: revision, drift: checked } = computeRevisions(overview)
    const shows = async (own: Partial<DomainPages>) => {
      const getDomains = () => ({ ...buildDomains(), ...own })
      const pages = createPages({ getDomains, overview: () => Promise.resolve(overview) })
      const { get } = await visit(await startHttp({ pages }))
      return (await (await get('/')).text()).includes('</a> As of <time')
    }
    expect(await shows({ revision, drift: checked })).toBe(false)
    expect(await shows({ revision })).toBe(true)
  })
})

describe('the page of a domain', () => {
  const read = async (own: Parameters<typeof createPages>[0], path = '/domains/a.example.com') => {
    const { get } = await visit(await startHttp({ pages: createPages(own) }))
    const answer = await get(path)
    return { status: answer.status, html: await answer.text() }
  }

  it('says that drift of the domain is not in the answers, where it has some', async () => {
    const text = 'This domain has drift, which is not in the answers below: the service has 2 items'
    expect((await read({})).html).not.toContain('This domain has drift')
    const page = buildDomains().find('a.example.com')
    const find = () => page && { ...page, drifted: 2 }
    const { html } = await read({ domains: async () => ({ ...buildDomains(), find }) })
    expect(html).toContain(text)
  })

  it('has the open rollouts of the domain below its head, and no others', async () => {
    const rollout = (id: string, domains: string[]) =>
      openRollout({ id, waves: [{ domains, applied: null, passed: false }] })
    const rollouts = [
      rollout('r<1', ['a.example.com']),
      rollout('r2', ['b.example.com']),
      openRollout({ id: 'r3', released: ['a.example.com'] }),
    ]
    const { html } = await read({ overview: () => Promise.resolve(buildOverview({ rollouts })) })
    const callout = '<p class="callout" data-tone="attention">'
    const link = '<a href="/rollouts/r%3C1">Rollout r&lt;1</a>: '
    expect(html).toContain(`</h1>${callout}${link}`)
    expect(html).toContain('this domain is in wave 1. Wave 1 of 1 begins soon: 1 domain.')
    expect(html).toContain('>Rollout r3</a>: this domain was in wave 1. Wave 2 of 3 waits for')
    expect(html).not.toContain('Rollout r2')
  })

  it('has the status codes with its applies, or says why it has none', async () => {
    expect((await read({})).html).toContain('They are not known: the service is away.')
    const never = () => new Promise<DomainStatistics>(() => undefined)
    expect((await read({ statistics: never })).html).toContain('They are being queried')
    const begin = Date.UTC(2026, 0, 2) / 1000
    const day = {
      span: [begin, begin + 86_400] as [number, number],
      seconds: 300,
      points: [[begin, 1, 0, 1, 0, 0, 0, 0] as PagePoint],
    }
    const asked: string[] = []
    const statistics = (domain: string) => {
      asked.push(domain)
      return Promise.resolve({ at: '2026-01-03T00:00:00.000Z', day, week: day })
    }
    const { html } = await read({ statistics })
    expect(html).toContain('1 request: 2xx 100.00 % (1).')
    expect(html).toContain('y="12">apply</text>')
    expect(asked).toEqual(['a.example.com'])
  })

  it('is found in upper case, and suggested for a slip', async () => {
    expect((await read({}, '/domains/A.Example.com')).status).toBe(200)
    const slip = await read({}, '/domains/a.exampel.com')
    expect(slip.status).toBe(404)
    expect(slip.html).toContain('Did you mean &quot;a.example.com&quot;?')
    expect((await read({}, `/domains/${'a.example.com'.repeat(100)}`)).html).not.toContain('mean')
  })
})

describe('the request that is tried on the page of a domain', () => {
  it('is traced by what is recorded, and by the manifests', async () => {
    const { get } = await visit(await startHttp())
    const form = await (await get('/domains/a.example.com')).text()
    expect(form).toContain(
      '<form class="trial" method="get" action="/domains/a.example.com#trial">',
    )
    expect(form).toContain('What drift has changed at the service is not in the answer.')
    expect(form).toContain('value="https://a.example.com/"')
    expect(form).not.toContain('Now, as recorded')
    const url = 'https://a.example.com/<b>"?x=1&y'
    const html = await (
      await get(`/domains/a.example.com?url=${encodeURIComponent(url)}&ip=192.0.2.1`)
    ).text()
    expect(html).toContain('https://a.example.com/&lt;b&gt;&quot;?x=1&amp;y\noutcome denied</pre>')
    expect(html).toContain('<h3>Now, as recorded</h3><p class="said">It is denied 192.0.2.1.</p>')
    expect(html).toContain('After an apply of the manifests')
    expect(html).not.toContain('<b>"')
  })

  it('says once what both do', async () => {
    const text = {
      recorded:
        'Denied with 403.\naccess    denied\n' +
        '  ip_black_list  deny  10.0.0.0/8\n\nAssumed   2 items.\n',
      desired:
        'Denied with 403 (domains/a.yaml:3).\naccess    denied\n' +
        '  ip_black_list  deny  10.0.0.0/8  domains/a.yaml:3\n\nAssumed   3 items.\n',
    }
    const pages = createPages({ trace: () => Promise.resolve(text) })
    const { get } = await visit(await startHttp({ pages }))
    const html = await (await get('/domains/a.example.com?url=https://a/')).text()
    expect(html).toContain('An apply of the manifests changes nothing of it.')
    text.desired = text.desired.replace('10.0.0.0/8', '10.0.0.0/9')
    const other = await (await get('/domains/a.example.com?url=https://a/')).text()
    expect(other).toContain('After an apply of the manifests')
  })

  it('has a reason if it can not be traced, and is of a bounded length', async () => {
    const asked: string[] = []
    const trace = ({ url, ip }: { url: string; ip: string }) => {
      asked.push(url, ip)
      return Promise.reject(new EdgewiseError('usage', 'no such domain', 'Name another.'))
    }
    const { get } = await visit(await startHttp({ pages: createPages({ trace }) }))
    const query = `url=${'x'.repeat(5000)}&ip=${'1'.repeat(50)}`
    const answer = await get(`/domains/a.example.com?${query}`)
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('no such domain. Name another.')
    expect(asked.map((text) => text.length)).toEqual([2000, 45])
  })

  it('is not on the list, nor on a page that there is not', async () => {
    const { get } = await visit(await startHttp())
    expect(await (await get('/domains')).text()).not.toContain('Try a request')
    expect(await (await get('/domains/b?url=https://b/')).text()).not.toContain('Try a request')
  })
})
