import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { place, setStage } from './stage.ts'

setStage()

const git = (...args: string[]) => {
  const author = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com']
  return execFileSync('git', [...author, ...args], { cwd: place.root, encoding: 'utf8' }).trim()
}

it('plan and apply note once that manifests are not committed', async () => {
  place.manifest('www.example.com', { timeout: { time: 60 } })
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '--message', 'first')
  const commit = git('rev-parse', '--short=12', 'HEAD')
  const text = `manifests have uncommitted changes on top of ${commit}`
  const count = async (...args: string[]) => {
    const { code, out, err } = await place.cli(...args)
    return [code, `${out}${err}`.replaceAll(/\s+/g, ' ').split(text).length - 1]
  }
  expect(await count('plan')).toEqual([0, 0])
  place.manifest('new.example.com', { timeout: { time: 61 } })
  expect(await count('plan')).toEqual([0, 1])
  expect(await count('apply', '--yes')).toEqual([0, 1])
  git('add', '.')
  git('commit', '--quiet', '--message', 'second')
  expect(await count('apply', '--yes')).toEqual([0, 0])
})
