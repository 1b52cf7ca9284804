// @module-tag often
// @module-tag nightly
import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { levels } from '../../src/core/policy/subject.ts'
import { fetchWrites } from './cli.ts'
import { emulator, place, setStageInTime } from './stage.ts'

const www = 'www.example.com'
const plain = { default_master: '192.0.2.10', origin_mode: 'http' }

setStageInTime()

function commit(): void {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
      cwd: place.root,
      stdio: 'ignore',
    })
  git('init', '-q', '-b', 'main')
  git('add', '-A')
  git('commit', '--allow-empty', '-m', 'x')
}

/** An exception in each state, and the code of what validate says about it. */
const exceptions = {
  none: [null, null],
  valid: ['until: 2026-12-31', null],
  expired: ['until: 2026-11-19', 'exception-expired'],
  unused: ['items: [timeout], until: 2026-12-31', 'exception-unused'],
} as const

function start(level: string, exception: string | null): void {
  place.manifest(www, { origin: plain, timeout: { time: 60 } })
  place.write(
    'policies/tls.yaml',
    `policy: tls\nlevel: ${level}\non: domain\ndeny: config.origin.origin_mode == "http"\n` +
      'message: no TLS\n',
  )
  if (exception !== null)
    place.write('policies/except.yaml', `except: [{policy: tls, reason: x, ${exception}}]\n`)
  commit()
  commit()
}

describe.each(Object.keys(exceptions) as (keyof typeof exceptions)[])(
  'an exception: %s',
  (name) => {
    const [text, code] = exceptions[name]
    const isExcepted = text !== null && code === null

    it.each(levels)('%s', async (level) => {
      start(level, text)
      const stops = level !== 'advisory' && !isExcepted
      const isError = level === 'hard' && !isExcepted

      const validated = await place.cli('validate', '--json')
      const { diagnostics } = JSON.parse(validated.out) as { diagnostics: { code: string }[] }
      expect([validated.code, diagnostics.map((each) => each.code).toSorted()]).toEqual([
        isError ? 1 : 0,
        [...(code === null ? [] : [code]), ...(isExcepted ? [] : ['policy-violated'])],
      ])

      const listed = (await place.json('policies')) as { policies: object[] }
      const counts = isExcepted ? { violations: 0, excepted: 1 } : { violations: 1, excepted: 0 }
      expect(listed.policies).toMatchObject([{ judged: 1, ...counts }])

      const plan = await place.cli('plan', '--json')
      const { policies } = JSON.parse(plan.out) as { policies: { violations: object[] } }
      expect([plan.code, policies.violations]).toMatchObject([
        0,
        isExcepted ? [] : [{ policy: 'tls', level, refused: stops }],
      ])
      expect(plan.err.includes('apply will refuse this plan')).toBe(stops)
      // Plan does not judge all domains, and so does not know what is unused.
      expect(plan.err.includes('it ended with')).toBe(code === 'exception-expired')
      expect(plan.err).not.toContain('it covers no violation')

      const isDone = { code: stops ? 1 : 0 }
      const sent = async () => (await fetchWrites(emulator)).length
      expect(await place.cli('apply', '--yes')).toMatchObject(isDone)
      expect(await sent()).toBe(stops ? 0 : 1)

      place.manifest(www, { origin: plain, timeout: { time: 61 } })
      const repair = ['drift', '--repair', '--include-pending', '--yes'] as const
      expect(await place.cli(...repair)).toMatchObject(isDone)
      expect(await sent()).toBe(stops ? 0 : 2)

      place.manifest(www, { origin: plain, timeout: { time: 62 } })
      const overridden = await place.cli('apply', '--yes', '--override', 'tls', '--reason', 'x')
      expect(overridden.code).toBe(level === 'hard' ? 1 : 0)
      expect(await sent()).toBe((stops ? 0 : 2) + (level === 'hard' ? 0 : 1))
      const { applies } = (await place.json('state', 'history')) as { applies: object[] }
      const overrides = applies.filter((each) => 'overrides' in each)
      expect(overrides).toHaveLength(level === 'soft' && stops ? 1 : 0)
    })
  },
)
