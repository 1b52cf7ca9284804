import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findChromium } from './find-chromium.ts'

const nothing = () => false
const only = (path: string) => (tried: string) => tried === path

it('CHROME_PATH alone counts if it is set', () => {
  const env = { CHROME_PATH: '/opt/mine', PATH: '/usr/bin' }
  expect(findChromium(env, () => true)).toBe('/opt/mine')
  expect(() => findChromium(env, only('/usr/bin/chromium'))).toThrow(
    'CHROME_PATH is "/opt/mine", which is no program.',
  )
})

it.each([
  [{}, '/usr/bin/chromium'],
  [{ CHROME_PATH: '' }, '/usr/bin/google-chrome'],
  [{ PATH: '/nix/bin' }, '/nix/bin/chromium-browser'],
  [{}, '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'],
  [{ PROGRAMFILES: 'C:/P' }, join('C:/P', 'Google', 'Chrome', 'Application', 'chrome.exe')],
])('with %o it finds %s', (env, path) => {
  expect(findChromium(env, only(path))).toBe(path)
})

it('without a browser the tests fail, and a message names what to install', () => {
  expect(() => findChromium({ PATH: '/usr/bin' }, nothing)).toThrow(/apt-get install chromium/)
})
