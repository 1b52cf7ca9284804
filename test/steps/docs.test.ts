import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { createAnchor } from '../../tools/reference/markdown.ts'
import { place, setWorkspace } from './stage.ts'
import { itLong } from '../runs.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const pages = [
  'README.md',
  ...readdirSync(`${root}docs`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
  'examples/github/README.md',
  'examples/gitlab/README.md',
]

setWorkspace()

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
        ...(['state', 'rollout'].includes(command) || second === 'approve' ? [second] : []),
        '--help',
      )
      expect([page, line, code]).toEqual([page, line, 0])
      for (const option of line.match(/(?<= )--[a-z-]+/g) ?? [])
        expect([page, line, out.includes(option)]).toEqual([page, line, true])
    }
  })

  it('docs/reference/commands.md lists every command, its options and its arguments', async () => {
    const text = readFileSync(`${root}docs/reference/commands.md`, 'utf8')
    const common = text.slice(0, text.indexOf('\n## init'))
    const check = async (...command: string[]): Promise<number> => {
      const { out } = await place.cli(...command, '--help')
      const list = (title: string, pattern: RegExp) =>
        Array.from(
          (new RegExp(`\\n${title}:\\n((?: {2}.*\\n)+)`).exec(out)?.[1] ?? '').matchAll(pattern),
          ([, name]) => name ?? '',
        )
      const children = list('Commands', /^ {2}([a-z]+)/gm).filter((name) => name !== 'help')
      if (children.length > 0) {
        const counts = await Promise.all(children.map((name) => check(...command, name)))
        return counts.reduce((sum, count) => sum + count, 0)
      }
      const name = command.join(' ')
      const section = new RegExp(`\\n## ${name}\\n([\\s\\S]*?)(?=\\n## |$)`).exec(text)?.[1] ?? ''
      const names = [
        ...list('Options', /^ {2}(?:-\w, )?(--[a-z-]+)/gm),
        ...list('Arguments', /^ {2}([a-z]+)/gm),
      ]
      const missing = names.filter(
        (each) => !new RegExp(`- \`[^\`]*${each}\\b`).test(section + common),
      )
      expect([name, missing]).toEqual([name, []])
      const every = text.slice(0, text.indexOf('\n## Options of several commands'))
      const unnamed = names.filter(
        (each) => !new RegExp(`\`[^\`]*${each}\\b`).test(section + every),
      )
      expect([name, unnamed]).toEqual([name, []])
      return 1
    }
    expect(await check()).toBeGreaterThan(20)
  })

  it.each(pages)('%s: every link leads to a file and to a heading of it', (page) => {
    const text = readFileSync(root + page, 'utf8')
    const links = [
      ...text.matchAll(/\]\(([^)#:\s]*)(#[^)\s]+)?\)/g),
      ...text.matchAll(/ (?:src|srcset)="([^"]*)"/g),
    ]
    const missing = links.flatMap(([, link = '', anchor]) => {
      const file = link === '' ? root + page : fileURLToPath(new URL(link, `file://${root}${page}`))
      if (!existsSync(file)) return [link]
      return anchor === undefined || hasHeading(file, anchor) ? [] : [`${link}${anchor}`]
    })
    expect([page, missing]).toEqual([page, []])
  })

  it('the guards of the guide to pull requests are valid', async () => {
    const text = readFileSync(`${root}docs/guides/pull-requests.md`, 'utf8')
    const guards = /```yaml\n# edgewise\.yaml\n([\s\S]*?)```/.exec(text)?.[1] ?? ''
    expect(guards).toContain('guards:')
    place.write('edgewise.yaml', `version: 1\n${guards}`)
    expect(await place.cli('validate', '--allow-empty')).toMatchObject({ code: 0 })
  })

  itLong(
    'adopting a fleet: import, an empty plan, and guards that refuse every change',
    async () => {
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
    },
  )
})

/** Tells whether a page has a heading with this anchor. */
function hasHeading(file: string, anchor: string): boolean {
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)
  return Array.from(headings, ([, heading = '']) => `#${createAnchor(heading)}`).includes(anchor)
}
