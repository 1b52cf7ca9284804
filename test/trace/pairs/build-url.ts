import type { Chance } from '../../simulation/chance.ts'
import { pickClue, several, type Draft } from './draft.ts'
import { drawPath } from './patterns.ts'
import { encodeOdd, signTarget, type Signed } from './sign.ts'
import { extensions, folders, parameters } from './words.ts'

/** A URL, and what its signature says. */
export interface SignedUrl extends Omit<Signed, 'target'> {
  url: string
}

/** Instants, some of them on days that are easily miscounted. */
const instants = [1_700_000_000, 1_709_210_096, 1_704_067_199, 1_719_792_000]

/** Builds a URL that rules match, or nearly; signed if the configuration wants it. */
export function buildUrl(draft: Draft, zone: string): SignedUrl {
  const { chance, clues } = draft
  const now = chance.pick(instants)
  const target = twist(draft, addArguments(draft, drawTarget(draft)))
  const signing = clues.signings.length > 0 ? chance.pick(clues.signings) : undefined
  const signed: Signed =
    signing !== undefined && chance.happens(0.85)
      ? signTarget(chance, target, signing, now, zone)
      : { target, at: now, truth: null }
  const { at, truth } = signed
  return { url: drawOrigin(draft) + drawForm(chance, signed.target), at, truth }
}

/** Draws scheme, host and port in any of their spellings. */
function drawOrigin({ chance, host }: Draft): string {
  const scheme = chance.pick(['https', 'https', 'https', 'http', 'http'])
  const port = chance.happens(0.3) ? chance.pick(['80', '443', '8080']) : ''
  const plain = `${scheme}://${host}`
  const odd = chance.happens(0.08) ? `${scheme.toUpperCase()}://${host.toUpperCase()}.` : plain
  return odd + (port === '' ? '' : `:${port}`)
}

function drawForm(chance: Chance, target: string): string {
  const form = chance.draw()
  if (target === '/' && form < 0.3) return ''
  if (target.startsWith('/?') && form < 0.3) return target.slice(1)
  if (form > 0.95) return `${target}#a/b.jpg?x`
  return form > 0.9 ? encodeOdd(target) : target
}

/** Draws a path that some rule matches, or parts of two rules, or just words. */
function drawTarget({ chance, clues }: Draft): string {
  const kind = chance.draw()
  if (kind < 0.6 && clues.targets.length > 0) return chance.pick(clues.targets)
  const path = drawPath(chance)
  if (kind > 0.93) return chance.pick(['/', '/a', '/a/', '/jpg', '/.jpg', '/?v=1', path])
  const folder = pickClue(chance, clues.folders, ['/', '/a/', `/${chance.pick(folders)}/`])
  const stem = chance.happens(0.5) ? path.slice(1) : path.slice(path.lastIndexOf('/') + 1)
  const extension = pickClue(chance, clues.extensions, extensions)
  return `${folder.replace(/\/$/, '')}/${stem.replace(/\w+$/, '')}${extension}`
}

function addArguments({ chance, clues }: Draft, target: string): string {
  if (chance.happens(0.45)) return target
  const values = ['1', '7', '', 'a', 'x.php', 'b=c', 'A', '%41', '2']
  const texts = several(chance, 1, 3, () => {
    const name = pickClue(chance, clues.parameters, parameters)
    const form = chance.draw()
    if (form < 0.08) return name
    if (form < 0.13) return chance.pick(['', `${name.toUpperCase()}=1`, `=${name}`, `${name}%3D1`])
    return `${name}=${chance.pick(values)}`
  })
  return target + (target.includes('?') ? '&' : '?') + texts.join('&')
}

/** Changes a path a little, so that a rule that matched may not, or the reverse. */
function twist(draft: Draft, target: string): string {
  const { chance } = draft
  if (chance.happens(0.55)) return target
  const count = chance.happens(0.2) ? 2 : 1
  let twisted = target
  for (let i = 0; i < count; i++) {
    const [path, ...rest] = twisted.split('?')
    const after = chance.pick(twists)(chance, path ?? '/')
    const query = rest.length > 0 ? `?${rest.join('?')}` : ''
    twisted = chance.happens(0.9) ? after + query : after + twistQuery(chance, query)
  }
  return twisted
}

const twists: ((chance: Chance, path: string) => string)[] = [
  (_chance, path) => path.toUpperCase(),
  (_chance, path) => path.toLowerCase(),
  (chance, path) => changeAt(chance, path, (char) => swapCase(char)),
  (chance, path) => path.replace(/[^/]*$/, (last) => `${chance.pick(folders)}/${last}`),
  (chance, path) => `/${chance.pick(folders)}${path}`,
  (chance, path) => path.replace(/\w*$/, () => chance.pick(extensions)),
  (chance, path) => path + chance.pick(['.bak', 'x', '.', '.jpg', '/', '2', '/x', '~']),
  (_chance, path) => Array.from(path).slice(0, -1).join('') || '/',
  (_chance, path) => path.replace('.', ''),
  (chance, path) => changeAt(chance, path, escapeLetter),
  (chance, path) => changeAt(chance, path, (char) => escapeLetter(char).toLowerCase()),
  (chance, path) => path + chance.pick(['%', '%zz', '%2', '%2F', '%2f', '%25', '%00', '%C3%A9']),
  (chance, path) =>
    changeSlash(chance, path, chance.pick(['/./', '/../', '/x/../', '//', '/%2e/'])),
  (chance, path) => path + chance.pick(['/.', '/..', '/../', '/./', '/%2E%2e/', '/...']),
  (chance, path) =>
    changeAt(chance, path, () => chance.pick(['é', '中', ' ', '"', '<', '`', '😀'])),
  (chance, path) => changeAt(chance, path, () => chance.pick(['-', '_', '~', '+', ';', '*', '|'])),
]

/** Changes one character that is no slash. */
function changeAt(chance: Chance, path: string, change: (char: string) => string): string {
  const chars = Array.from(path)
  const at = chance.between(1, Math.max(1, chars.length - 1))
  return chars.map((char, i) => (i === at && char !== '/' ? change(char) : char)).join('')
}

function changeSlash(chance: Chance, path: string, text: string): string {
  const slashes = [...path.matchAll(/\//g)].map(({ index }) => index)
  const at = chance.pick(slashes)
  return path.slice(0, at) + text + path.slice(at + 1)
}

function swapCase(char: string): string {
  return char === char.toLowerCase() ? char.toUpperCase() : char.toLowerCase()
}

function escapeLetter(char: string): string {
  const code = char.codePointAt(0) ?? 0
  return code < 0x80 ? `%${code.toString(16).toUpperCase().padStart(2, '0')}` : char
}

function twistQuery(chance: Chance, query: string): string {
  const texts = ['', '?', `${query || '?'}&`, `${query || '?'}&&v=1`, `${query || '?'}?x=/a.jpg`]
  return chance.pick([...texts, `${query || '?'}é=1`, query.toUpperCase()])
}
