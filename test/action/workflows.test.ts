// @module-tag often
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { simpleGit } from 'simple-git'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { findParserErrors } from './check-files.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const action = join(root, 'action.yml')
const ci = join(root, '.github/workflows/ci.yml')
const release = join(root, '.github/workflows/release.yml')

interface Workflow {
  jobs: Record<string, { steps: { run?: string }[] }>
}

describe('the files of this repository', () => {
  it('keep reports and plans of the action outside of the checkout', () => {
    const { inputs } = parse(readFileSync(action, 'utf8')) as {
      inputs: Record<string, { default?: string }>
    }
    for (const name of ['plan', 'report'])
      expect(inputs[name]?.default).toMatch(/^\$\{\{ runner\.temp \}\}\/[\w.-]+$/)
  })

  it.each([
    ['ci.yml', ci],
    ['release.yml', release],
  ])(
    '%s pins actions by commit with a version comment, and no script has an expression',
    (_, path) => {
      const text = readFileSync(path, 'utf8')
      const lines = text.split('\n').filter((line) => /\buses:/.test(line))
      expect(lines.length).toBeGreaterThan(1)
      for (const line of lines)
        expect(line).toMatch(/uses: actions\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
      const jobs = Object.values((parse(text) as Workflow).jobs)
      const scripts = jobs.flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []))
      expect(scripts.length).toBeGreaterThan(0)
      for (const script of scripts) expect(script).not.toContain('${{')
    },
  )

  it('never look up the program as a package by its name', async () => {
    const files = (await simpleGit(root).raw('ls-files', '-z')).split('\0')
    const documented = files.filter((path) =>
      /^(README|docs|examples|schemas|src|tools|\.github|\.ci|package\.json)/.test(path),
    )
    expect(documented.length).toBeGreaterThan(100)
    const lookups = new RegExp(
      [
        String.raw`\b(npx|pnpx|bunx|npm (exec|x|init)|(pnpm|yarn) dlx)\b.*\bedgewise\b`,
        String.raw`\bnpm (install|i|add)\b.*(?<!\./)\bedgewise\b`,
        String.raw`(?<!/)\bedgewise@[\dv^~]`,
      ].join('|'),
    )
    for (const path of documented.map((each) => join(root, each)))
      expect([path, lookups.exec(readFileSync(path, 'utf8'))?.[0]]).toEqual([path, undefined])
  })

  it("pass the code host's own parser", () => {
    expect(findParserErrors([action, ci, release])).toEqual([[], [], []])
  })
})
