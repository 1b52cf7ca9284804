import { readFileSync } from 'node:fs'
import { globSync } from 'tinyglobby'
import { expect, it } from 'vitest'
import { inspect, renderPage } from '../tools/house.ts'

it('rooms import only what their row allows, and pure rooms are pure', () => {
  const { rooms, faults } = inspect()
  expect(faults).toEqual([])
  expect(rooms.every((room) => room.files > 0)).toBe(true)
})

it('docs/architecture.md has the current picture (else npm run house -- --picture)', () => {
  const { now, drawn } = renderPage(inspect().rooms)
  expect(now).toContain('flowchart TD')
  expect(now).toBe(drawn)
})

it('every file of the longer checks has the tag that they run', () => {
  const files = globSync('test/long/*.test.ts')
  const tagged = files.filter((file) =>
    readFileSync(file, 'utf8').startsWith('// @module-tag often\n'),
  )
  expect(tagged).toEqual(files)
})

it('no list is spread into arguments where a manifest or a service decides its length', () => {
  // `Math.max(...[a, b])` has a fixed length.
  const spread = /\.(push|unshift)\(\s*\.\.\.|Math\.(max|min)\((\s*|[\w.']+, )\.\.\.(?!\[)/
  const found = globSync('src/**/*.ts', { ignore: 'src/generated/**' }).filter((file) =>
    spread.test(readFileSync(file, 'utf8')),
  )
  expect(found).toEqual([])
})

it('no URL is tested by URL.canParse, which Node 20 answers wrongly in a loop', () => {
  const files = globSync('src/**/*.ts', { ignore: 'src/generated/**' })
  const found = files.filter((file) => /URL\.canParse\(/.test(readFileSync(file, 'utf8')))
  expect(found).toEqual([])
})

it('lines have at most 100 characters in code, 120 in Markdown outside of code blocks', () => {
  const code = globSync('{src,test,tools}/**/*.ts', { ignore: 'src/generated/**' })
  const pages = globSync(['*.md', 'docs/*.md'])
  const listLong = (file: string, text: string, max: number) =>
    text.split('\n').flatMap((line, i) => (line.length > max ? [`${file}:${i + 1}`] : []))
  expect([
    ...code.flatMap((file) => listLong(file, readFileSync(file, 'utf8'), 100)),
    ...pages.flatMap((file) =>
      listLong(file, readFileSync(file, 'utf8').replace(/^```.*?^```/gms, blank), 120),
    ),
  ]).toEqual([])
})

/** Removes the text of a code block, and keeps its lines. */
const blank = (block: string) => block.replace(/.+/g, '')
