import { afterEach, describe, expect, it } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { keepLast, parseDomainPages } from '../../src/server/pages/domain-pages.ts'
import { closeHttp, startHttp } from './http-stage.ts'
import { buildDomains, createPages } from './page-stage.ts'
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
    expect(pages.find('a.example.com')?.main).toBe('<h1>a.example.com</h1>')
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
    expect((await fetch(`${http.url}/domains/a.example.com`)).status).toBe(401)
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
    expect(await (await other.get('/')).text()).toContain(link)
  })
})

describe('the request that is tried on the page of a domain', () => {
  it('is traced by what is recorded, and by the manifests', async () => {
    const { get } = await visit(await startHttp())
    const form = await (await get('/domains/a.example.com')).text()
    expect(form).toContain('<form method="get" action="/domains/a.example.com">')
    expect(form).toContain('value="https://a.example.com/"')
    expect(form).not.toContain('As recorded')
    const url = 'https://a.example.com/<b>"?x=1&y'
    const html = await (await get(`/domains/a.example.com?url=${encodeURIComponent(url)}`)).text()
    expect(html).toContain('https://a.example.com/&lt;b&gt;&quot;?x=1&amp;y\noutcome denied</pre>')
    expect(html).toContain('As the manifests of the commit have it')
    expect(html).not.toContain('<b>"')
  })

  it('says once what both do', async () => {
    const text = {
      recorded: 'https://a/ (recorded)\noutcome  denied *\n*  if 2 items are not set\n',
      desired: 'https://a/  (desired)\noutcome  denied *\n*  if 3 items are not set\n',
    }
    const pages = createPages({ trace: () => Promise.resolve(text) })
    const { get } = await visit(await startHttp({ pages }))
    const html = await (await get('/domains/a.example.com?url=https://a/')).text()
    expect(html).toContain('The manifests of the commit do the same.')
  })

  it('has a reason if it can not be traced, and is of a bounded length', async () => {
    const asked: string[] = []
    const trace = (url: string) => {
      asked.push(url)
      return Promise.reject(new EdgewiseError('usage', 'no such domain', 'Name another.'))
    }
    const { get } = await visit(await startHttp({ pages: createPages({ trace }) }))
    const answer = await get(`/domains/a.example.com?url=${'x'.repeat(5000)}`)
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('no such domain. Name another.')
    expect(asked.map((url) => url.length)).toEqual([2000])
  })

  it('is not on the list, nor on a page that there is not', async () => {
    const { get } = await visit(await startHttp())
    expect(await (await get('/domains')).text()).not.toContain('Try a request')
    expect(await (await get('/domains/b?url=https://b/')).text()).not.toContain('Try a request')
  })
})
