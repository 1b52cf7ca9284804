import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Place } from './cli.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const pages = [
  'README.md',
  ...readdirSync(`${root}docs`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
  'examples/github/README.md',
  'examples/gitlab/README.md',
]

let place: Place
beforeEach(() => {
  place = new Place('emulator')
})
afterEach(() => place.remove())

describe('the documentation', () => {
  it.each(pages)('%s: every command line uses existing commands and options', async (page) => {
    const text = readFileSync(root + page, 'utf8')
    const lines = Array.from(
      text.matchAll(/(?:^|\$ |`|&& )edgewise ([a-z][^`\n#&|]*)/gm),
      ([, line]) => line ?? '',
    )
    for (const line of lines) {
      const [command = '', second = ''] = line.split(/\s/)
      const { code, out } = await place.cli(
        command,
        ...(['state', 'rollout'].includes(command) ? [second] : []),
        '--help',
      )
      expect([page, line, code]).toEqual([page, line, 0])
      for (const option of line.match(/(?<= )--[a-z-]+/g) ?? [])
        expect([page, line, out.includes(option)]).toEqual([page, line, true])
    }
  })

  it('README.md lists every command and option', async () => {
    const text = readFileSync(`${root}README.md`, 'utf8')
    const list = async (...command: string[]): Promise<string[]> => {
      const { out } = await place.cli(...command, '--help')
      const children = Array.from(
        out.matchAll(/^ {2}([a-z]+)(?: .*)? {2}/gm),
        ([, name = '']) => name,
      )
      const options = Array.from(
        out.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm),
        ([, name = '']) => name,
      )
      const nested = out.includes('\nCommands:')
        ? await Promise.all(
            children.filter((name) => name !== 'help').map((name) => list(...command, name)),
          )
        : []
      return [command.join(' '), ...options, ...nested.flat()]
    }
    const names = (await list()).filter((name) => name !== '')
    expect(names.length).toBeGreaterThan(40)
    const global = ['--workspace', '--yes', '--quiet', '--verbose', '--help', '--version']
    const emulator = readFileSync(`${root}docs/reference/emulator.md`, 'utf8')
    const documented = (name: string) => text.includes(`\`${name}`) || emulator.includes(name)
    expect(names.filter((name) => !documented(name) && !global.includes(name))).toEqual([])
  })

  it.each(pages)('%s: every link leads to a file', (page) => {
    const text = readFileSync(root + page, 'utf8')
    const links = Array.from(text.matchAll(/\]\(([^)#:\s]+)\)/g), ([, link]) => link ?? '')
    const missing = links.filter(
      (link) => !existsSync(fileURLToPath(new URL(link, `file://${root}${page}`))),
    )
    expect([page, missing]).toEqual([page, []])
  })

  it('the guards of the guide to pull requests are valid', async () => {
    const text = readFileSync(`${root}docs/guides/pull-requests.md`, 'utf8')
    const guards = /```yaml\n# edgewise\.yaml\n([\s\S]*?)```/.exec(text)?.[1] ?? ''
    expect(guards).toContain('guards:')
    place.write('edgewise.yaml', `version: 1\n${guards}`)
    expect(await place.cli('validate', '--allow-empty')).toMatchObject({ code: 0 })
  })

  it('adopting a fleet: import, an empty plan, and guards that refuse every change', async () => {
    const text = readFileSync(`${root}docs/guides/adopting-a-fleet.md`, 'utf8')
    const fleet = /```json\n([\s\S]*?)```/.exec(text)?.[1] ?? ''
    place.write('live.json', fleet)
    const strict = /guards: \{.*\}/.exec(text)?.[0] ?? ''
    place.write('edgewise.yaml', `version: 1\n${strict}\n`)
    expect((await place.cli('import', 'live.json', '--write-manifests')).out).toBe(
      'Recorded 4 items of 2 domains.\n',
    )
    expect((await place.cli('plan')).out).toBe('4 items are as recorded. No changes.\n')
    expect((await place.cli('fmt', '--check')).code).toBe(0)
    place.manifest('shop.example.com', { timeout: { time: 61 } })
    expect((await place.cli('apply', '--yes', '--force')).err).toContain(
      'protect: shop.example.com is protected',
    )
  })
})
