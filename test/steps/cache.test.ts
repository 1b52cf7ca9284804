// @module-tag often
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createUserCache } from '../../src/operations/runtime/node-outside.ts'
import { Place } from './cli.ts'

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

let place: Place
let home: string
beforeEach(() => {
  place = new Place('emulator')
  home = mkdtempSync(join(tmpdir(), 'edgewise-'))
  for (let i = 0; i < 100; i++) place.manifest(`d${i}.example.com`, { timeout: { time: 60 } })
})
afterEach(() => {
  place.remove()
  rmSync(home, { recursive: true, force: true })
})

/** Lists the files of the cache but that of the program's code. */
const listFiles = () => readdirSync(join(home, 'edgewise')).filter((name) => name.endsWith('.json'))

describe('the cache', () => {
  it('is used by commands, unless --no-cache', async () => {
    const opened: string[] = []
    const cache = createUserCache({ XDG_CACHE_HOME: home })
    place.cache = {
      program: 'program',
      open: (root, part) => {
        opened.push(part)
        return cache.open(root, part)
      },
    }
    expect(await place.cli('validate', '--no-cache')).toMatchObject({ code: 0 })
    expect(await place.cli('--no-cache', 'plan')).toMatchObject({ code: 0 })
    expect([opened, readdirSync(home)]).toEqual([[], []])
    const [first, second] = [await place.cli('plan'), await place.cli('plan')]
    expect(first).toMatchObject({ code: 0 })
    expect(second).toEqual(first)
    expect(opened).toEqual(['manifests', 'manifests'])
    expect(listFiles()).toHaveLength(1)
  })

  it('is kept by the built program, with none of its secrets', () => {
    place.write(
      'domains/d0.example.com.yaml',
      'domain: d0.example.com\nconfig: {timeout: {time: 77}}\n',
    )
    const env = {
      PATH: process.env['PATH'],
      XDG_CACHE_HOME: home,
      EDGEWISE_TOKEN: 'the-token-of-it',
    }
    const run = () =>
      execFileSync(process.execPath, [program, '-C', place.root, 'validate'], { env })
    expect(String(run())).toBe(String(run()))
    const text = readFileSync(join(home, 'edgewise', listFiles()[0] ?? ''), 'utf8')
    expect(text).toContain('{"time":"77"}')
    expect(text).not.toContain('the-token-of-it')
  })
})
