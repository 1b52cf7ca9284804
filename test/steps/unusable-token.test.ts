import { expect, it } from 'vitest'
import { fetchCalls } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'

setStage()

it.each([
  [' abc123xyz', 'a blank at its start'],
  ['abc123xyz\n', 'a line break at its end'],
  ['abc123xyz \r\n', 'a line break at its end'],
  ['abc123xyz\u00a0', 'a blank at its end'],
  ['abc 123xyz', 'a blank in it'],
  ['abc123xyz\u200b', 'a control character at its end'],
  [' abc123xyz\n', 'a blank at its start'],
  ['\n', 'a line break at its start'],
])(
  'the token %j is named as unusable before anything is sent, and not shown',
  async (token, fault) => {
    place.manifest('www.example.com', { timeout: { time: 60 } })
    place.env['EDGEWISE_TOKEN'] = token
    for (const command of [['apply', '--yes'], ['stats'], ['prefetch', '--task', '1']]) {
      const { code, out, err } = await place.cli(...command)
      expect([code, err.replaceAll(/\s+/g, ' ')]).toEqual([
        1,
        expect.stringContaining(`the environment variable EDGEWISE_TOKEN has ${fault}`),
      ])
      expect(err).toContain('nothing was sent')
      expect(out + err).not.toMatch(/123/)
    }
    expect(await fetchCalls(emulator)).toEqual([])
    expect((await place.cli('plan')).code).toBe(0)
  },
)
