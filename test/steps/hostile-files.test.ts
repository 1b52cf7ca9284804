import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { signed } from '../stories/secrets-through-ci.ts'
import { Place } from './cli.ts'
import { place, setWorkspace } from './stage.ts'

const www = 'www.example.com'
setWorkspace(() => new Place('emulator').manifest(www, { timeout: { time: 60 } }))

const path = (name: string) => join(place.root, name)
const secret = (source: object) => {
  const home = place.read('edgewise.yaml')
  place.write('edgewise.yaml', `${home}\nsecrets: ${JSON.stringify({ signing: source })}\n`)
  place.manifest(www, signed())
}

/** Creates a file that never ends, blocks, or is no text; returns its path. */
const hostile: Record<string, (name: string) => string> = {
  'a pipe': (name) => {
    execFileSync('mkfifo', [path(name)])
    return name
  },
  'a device': (name) => {
    symlinkSync('/dev/zero', path(name))
    return name
  },
  'a folder': (name) => {
    mkdirSync(path(name))
    return name
  },
  'UTF-16': (name) => {
    writeFileSync(path(name), Buffer.from('\ufeff{"a": 1}', 'utf16le'))
    return name
  },
  'a byte order mark': (name) => {
    writeFileSync(path(name), '\ufeff{"a": 1}')
    return name
  },
  'other bytes': (name) => {
    writeFileSync(path(name), Buffer.from('caf\xe9', 'latin1'))
    return name
  },
}
const reasons: Record<string, string> = {
  'a pipe': 'expected a file, got a pipe, socket or device',
  'a device': 'expected a file, got a pipe, socket or device',
  'a folder': 'expected a file, got a folder',
  'UTF-16': 'expected UTF-8, got NUL bytes or UTF-16',
  'a byte order mark': 'expected UTF-8 without a byte order mark, got one at the beginning',
  'other bytes': 'expected UTF-8, got other bytes',
}

describe.each(Object.keys(hostile))('%s instead of a text file', (kind) => {
  const make = (name: string) => hostile[kind]?.(name) ?? ''
  /** Messages break lines at blanks. */
  const flat = (text: string) => text.replace(/\s+/g, ' ')

  it.each([
    ['a plan file', (name: string) => ['apply', name]],
    ['an import file', (name: string) => ['import', name]],
    ['observed configuration', (name: string) => ['drift', '--observed', name]],
    ['the list of domains of an emulator', (name: string) => ['emulator', '--domains', name]],
  ])('is refused with the reason as %s', async (_what, line) => {
    const ran = await place.cli(...line(make('given.json')))
    expect(ran.code).toBe(1)
    expect(flat(ran.err)).toContain(reasons[kind])
  })

  it('is refused with the reason as the file of a secret', async () => {
    secret({ file: make('signing.key') })
    const ran = await place.cli('apply', '--yes')
    expect(ran.code).toBe(1)
    expect(flat(ran.err)).toContain(`signing.key can't be used: ${reasons[kind]}`)
  })
})

it.each([
  ['a plan file', ['apply', 'given.json']],
  ['an import file', ['import', 'given.json']],
  ['observed configuration', ['drift', '--observed', 'given.json']],
  ['the list of domains of an emulator', ['emulator', '--domains', 'given.json']],
])('a link out of the checkout is refused with the reason as %s', async (_what, line) => {
  execFileSync('git', ['init', '-q', place.root])
  symlinkSync(process.execPath, path('given.json'))
  const ran = await place.cli(...line)
  expect(ran.code).toBe(1)
  expect(ran.err.replace(/\s+/g, ' ')).toContain('expected a file, got a link out of the checkout')
})

it('a file of state that is a pipe is refused with the reason', async () => {
  const folder = path('.edgewise/state/default/emulator/domains/aa')
  mkdirSync(folder, { recursive: true })
  execFileSync('mkfifo', [join(folder, `${www}.json`)])
  const ran = await place.cli('state', 'list')
  expect(ran.code).toBe(1)
  expect(ran.err.replace(/\s+/g, ' ')).toContain('expected a file, got a pipe')
})

it('a .gitignore that is a pipe is refused with the reason', async () => {
  mkdirSync(path('new'))
  execFileSync('mkfifo', [path('new/.gitignore')])
  expect((await place.cli('init', 'new')).err.replace(/\s+/g, ' ')).toContain('got a pipe')
})

it('the data file of the emulator that is a pipe is refused with the reason', async () => {
  execFileSync('mkfifo', [path('data.json')])
  const ran = await place.cli('emulator', '--data', 'data.json')
  expect(ran.err.replace(/\s+/g, ' ')).toContain('expected a file, got a pipe')
})

it.each([
  ['UTF-16', "printf '\\377\\376a\\000'", 'expected UTF-8, got NUL bytes or UTF-16'],
  ['a byte order mark', "printf '\\357\\273\\277a'", 'expected UTF-8 without a byte order mark'],
  ['other bytes', "printf 'caf\\351'", 'expected UTF-8, got other bytes'],
])(
  'a command of a secret that prints %s is refused with the reason',
  async (_what, script, reason) => {
    secret({ command: ['sh', '-c', script] })
    const ran = await place.cli('apply', '--yes')
    expect(ran.code).toBe(1)
    expect(ran.err.replace(/\s+/g, ' ')).toContain(`printed no text: ${reason}`)
  },
)

it.each(['toString', 'constructor', '__proto__', 'hasOwnProperty'])(
  'a variable named %s that is not set is reported as not set',
  async (name) => {
    secret({ env: name })
    const ran = await place.cli('apply', '--yes')
    expect(ran.code).toBe(1)
    expect(ran.err).toContain(`the environment variable ${name} is not set (edgewise.yaml:`)
  },
)

describe('the file of a secret inside the checkout', () => {
  beforeEach(() => execFileSync('git', ['init', '-q', place.root]))

  it.each(['s', '..x/s', '...', './..a', 'linked/s'])('is recognized at %s', async (file) => {
    mkdirSync(path('..x'), { recursive: true })
    symlinkSync(path('..x'), path('linked'))
    writeFileSync(path(file), 'a-secret-value-in-the-checkout')
    secret({ file })
    expect((await place.cli('plan')).err.replace(/\s+/g, ' ')).toContain(
      `the file ${file} is in the checkout and git does not ignore it (edgewise.yaml:`,
    )
    place.write('.gitignore', '*\n')
    expect((await place.cli('plan')).code).toBe(0)
  })

  it('is recognized above the workspace, and outside the checkout it is used', async () => {
    place.write('below/edgewise.yaml', place.read('edgewise.yaml'))
    place.write('s', 'a-secret-value-in-the-checkout')
    const below = new Place('emulator', 'secrets: {signing: {file: ../s}}\n', {
      root: path('below'),
    }).manifest(www, signed())
    expect((await below.cli('plan')).err.replace(/\s+/g, ' ')).toContain('is in the checkout')
    const outside = join(dirname(place.root), `${place.root.split('/').at(-1) ?? ''}-s`)
    writeFileSync(outside, 'a-secret-value-outside')
    secret({ file: outside })
    expect((await place.cli('plan')).code).toBe(0)
    rmSync(outside)
  })
})

describe('files that do not exist', () => {
  it('are refused by name, also of "validate"', async () => {
    const wrong = await place.cli('validate', 'domain')
    expect(wrong).toMatchObject({ code: 1, out: '' })
    expect(wrong.err).toContain('domain: no such file or folder')
    expect((await place.cli('validate', 'domains')).out).toContain('Valid: 1 domain')
    const plan = await place.cli('apply', 'none.json')
    expect(plan.err).toContain(`the plan file ${path('none.json')}: no such file`)
    expect(plan.err).not.toContain('ENOENT')
  })
})
