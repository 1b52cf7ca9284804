// @module-tag often
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Fleet } from '../../src/core/model/page/fleet.ts'
import { listSchemaErrors } from '../report/output-schema.ts'
import { Place, setFaults } from './cli.ts'
import { emulator, enterPlace, place, setStage } from './stage.ts'

setStage()

const www = 'www.example.com'
const report = (...more: string[]) => place.cli('report', '--html', 'site', ...more)
const readPage = (domain: string) => place.read(`site/domains/${domain}.html`)
const listPages = () => readdirSync(join(place.root, 'site/domains')).toSorted()

/** Reads the list that the script of the first page gets. */
function readFleet(): Fleet {
  const [, text = ''] = /id="domains">(.*?)<\/script>/.exec(place.read('site/index.html')) ?? []
  return JSON.parse(text) as Fleet
}

describe('report', () => {
  beforeEach(async () => {
    place.write('profiles/base.yaml', 'profile: base\nconfig:\n  https: {cert_id: 1}\n')
    for (const name of [www, 'img.example.com', '.wild.example.com'])
      place.write(
        `domains/${name.replace(/^\./, '')}.yaml`,
        `domain: ${name}\nprofiles: [base]\nconfig:\n  timeout: {time: 60}\n`,
      )
    await place.settle()
  })

  it('writes a list and a page for each domain', async () => {
    const { code, out } = await report()
    expect({ code, out }).toEqual({
      code: 0,
      out:
        '3 domains as recorded.\n' +
        'Written to site/index.html: the list, and 3 pages of domains.\n',
    })
    expect(listPages()).toEqual(['img.example.com.html', `${www}.html`, '~.wild.example.com.html'])
    const { rows, address } = readFleet()
    expect(address).toEqual(['domains/', '.html'])
    expect(rows).toMatchObject([
      { domain: '.wild.example.com', page: '~.wild.example.com', state: 'recorded', items: 2 },
      { domain: 'img.example.com', state: 'recorded' },
      { domain: www, state: 'recorded' },
    ])
    const page = readPage(www)
    expect(page).toContain('<title>as recorded: www.example.com</title>')
    expect(page).toContain('2 items as recorded.')
    expect(page).toContain('<dt>cert_id<dd>1<small>profiles/base.yaml:3</small>')
    expect(page).toContain('confirmed: https, timeout')
    expect(page).not.toContain('<script')
  })

  it('writes the same pages into one file for a server', async () => {
    expect((await report()).code).toBe(0)
    expect(await place.cli('report', '--pages', 'pages.json')).toMatchObject({ code: 0, out: '' })
    const text = place.read('pages.json')
    const { list, pages } = JSON.parse(text.slice(0, text.indexOf('\n'))) as {
      list: { sentence: string; main: string }
      pages: [string, number][]
    }
    expect(list.sentence).toBe('3 domains as recorded.')
    expect(list.main).toContain('<a href="/domains/~.wild.example.com">')
    expect(pages.map(([name]) => name)).toEqual(['~.wild.example.com', 'img.example.com', www])
    const page = JSON.parse(text.slice(-(pages[2]?.[1] ?? 0))) as Record<
      'title' | 'head' | 'main',
      string
    >
    expect(page.title).toBe(`as recorded: ${www}`)
    expect(page.head).toContain('<a href="/domains">All domains</a>')
    const inFile = readPage(www).replace('../index.html', '/domains')
    expect(inFile).toContain(page.head.slice(0, page.head.indexOf('<dt>As of')))
    // A server has a page of the history, to which applies lead.
    expect(page.main).toContain('<a href="/history#apply=')
    expect(inFile).toContain(page.main.replace(/<a href="\/history#[^"]*">([^<]*)<\/a>/g, '$1'))
  })

  it('needs a folder', async () => {
    const { code, err } = await place.cli('report')
    expect([code, err]).toEqual([1, expect.stringContaining('Pass --html DIR.')])
  })

  it('says what is pending, in-doubt, drifted and new', async () => {
    place.write(
      'domains/img.example.com.yaml',
      'domain: img.example.com\nconfig:\n  timeout: {time: 7}\n',
    )
    await setFaults(emulator, { kind: 'error', probability: 1 })
    expect((await place.cli('apply', '--yes', '--target', 'img*')).code).toBe(3)
    await setFaults(emulator)
    place.write(`domains/${www}.yaml`, `domain: ${www}\nconfig:\n  timeout: {time: 61}\n`)
    place.manifest('new.example.com', { timeout: { time: 5 } })
    place.write('live.json', JSON.stringify({ '.wild.example.com': { timeout: { time: '9' } } }))
    const { out } = await report('--observed', 'live.json')
    expect(out).toContain('0 of 4 domains as recorded; 1 in-doubt; 1 drifted; 2 pending.')
    const { rows } = readFleet()
    expect(rows.map(({ domain, state }) => `${state} ${domain}`)).toEqual([
      'in-doubt img.example.com',
      'drifted .wild.example.com',
      'pending new.example.com',
      `pending ${www}`,
    ])
    expect(rows[0]).toMatchObject({ inDoubt: 1, items: 1 })
    const page = readPage(www)
    expect(page).toContain('<title>pending: www.example.com</title>')
    expect(page).toMatch(/data-action="change"><span class="mark">~.*time {2}60 → 61/)
    expect(page).toContain('no manifest has it')
    expect(readPage('~.wild.example.com')).toMatch(/at the service: it has this value.*60 → 9/)
  })

  it('prints counts as JSON', async () => {
    const json = await place.json('report', '--html', 'site')
    expect(listSchemaErrors('report', json)).toEqual([])
    expect(json).toMatchObject({ domains: 3, states: { recorded: 3 }, removed: 0 })
  })

  it('removes the pages of domains that are gone, and nothing else', async () => {
    await report()
    rmSync(join(place.root, 'domains/img.example.com.yaml'))
    await place.cli('state', 'forget', 'img.example.com', '--yes')
    place.write('site/domains/notes.txt', 'mine').write('site/CNAME', 'mine')
    const { out } = await report()
    expect(out).toContain('2 pages of domains; 1 page removed')
    expect(listPages()).toEqual(['notes.txt', `${www}.html`, '~.wild.example.com.html'])
    expect(place.read('site/CNAME')).toBe('mine')
  })

  it('refuses a folder with other files, and one that a link leads to', async () => {
    place.write('other/index.html', 'mine')
    for (const folder of ['other', 'domains', '.']) {
      const { code, err } = await place.cli('report', '--html', folder)
      expect(code).toBe(1)
      expect(err).toContain('it has other files')
    }
    expect(place.read('other/index.html')).toBe('mine')
    symlinkSync(place.root, join(place.root, 'link'))
    await report()
    execFileSync('git', ['init', '-q'], { cwd: place.root })
    expect((await place.cli('report', '--html', 'link/new')).err).toContain('symbolic link')
  })

  it('never writes or removes beyond the folder', async () => {
    const outside = enterOutside()
    mkdirSync(join(place.root, 'site'))
    place.write('site/edgewise-report.txt', '')
    symlinkSync(outside.root, join(place.root, 'site/domains'))
    const { code } = await report()
    expect(code).toBe(1)
    expect(readdirSync(outside.root)).toEqual(['edgewise.yaml', 'old.html'])
    outside.remove()
  })

  it('needs the folder', async () => {
    expect(await place.cli('report')).toMatchObject({ code: 1 })
  })

  it('links lines at the code host, of a commit', async () => {
    await report()
    expect(readPage(www)).toContain(`<code>domains/${www}.yaml:1</code>`)
    expect(readPage(www)).not.toContain('https://')
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
        cwd: place.root,
      })
    git('init', '-q')
    git('remote', 'add', 'origin', 'git@github.com:Example/cdn.git')
    git('add', '.')
    git('commit', '-qm', 'All')
    const head = git('rev-parse', 'HEAD').toString().trim()
    await report()
    const link = `https://github.com/example/cdn/blob/${head}/domains/${www}.yaml#L1`
    expect(readPage(www)).toContain(`<a href="${link}">`)
  })
})

it('shows secrets as references', async () => {
  enterPlace(new Place(emulator.url, 'secrets: {signing: {env: SIGNING}}\n'))
  place.env = { ...place.env, SIGNING: 'sesame-<&>-open' }
  const config =
    '{pattern: .*, time_format: timestamp, key: "${secret:signing}", deadtime: 1800, ' +
    'req_uri_type: 1}'
  place.write('domains/www.yaml', `domain: ${www}\nconfig: {visit_timestamp: ${config}}\n`)
  await place.settle()
  await report()
  expect(readPage(www)).toContain('<dt>key<dd>${secret:signing}')
  for (const file of ['index.html', `domains/${www}.html`])
    expect(place.read(`site/${file}`)).not.toMatch(/sesame|scrypt/)
  expect(existsSync(join(place.root, 'site/style.css'))).toBe(true)
})

/** Creates a folder beside the workspace, with a page. */
function enterOutside(): Place {
  return new Place(emulator.url).write('old.html', 'mine')
}
