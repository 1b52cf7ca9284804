import type { Chance } from '../../simulation/chance.ts'
import { several, type Draft } from './draft.ts'
import { drawForeignRegex, drawSequence, escapeRegex, type Sampled } from './regexes.ts'
import { extensions, folders, parameters, stems } from './words.ts'

/** Kinds of patterns, by their names in the newer items. */
export type PatternKind = 'ext' | 'dir' | 'route' | 'regex' | 'all'

/** Draws a path of known words. */
export function drawPath(chance: Chance): string {
  const path = several(chance, 0, 3, () => `${chance.pick(folders)}/`).join('')
  return `/${path}${chance.pick(stems)}.${chance.pick(extensions)}`
}

/** Draws the text of a pattern, and adds to the clues what it matches. */
export function drawPattern(draft: Draft, kind: PatternKind): string {
  const { chance } = draft
  if (kind === 'all') return '.*'
  if (kind === 'regex') return drawUrlRegex(draft)
  const draw = { ext: drawExtension, dir: drawFolder, route: drawRoute }[kind]
  return several(chance, 1, 3, () => draw(draft)).join(chance.pick([',', ',', ',', ', ', ' , ']))
}

function drawExtension({ chance, clues }: Draft): string {
  const rare = ['tar.gz', '.jpg', 'JPG', 'Mp4', 'j*g', 'gz']
  const entry = chance.happens(0.2) ? chance.pick(rare) : chance.pick(extensions)
  clues.extensions.push(entry.replace(/^\./, ''))
  return entry
}

function drawFolder({ chance, clues }: Draft): string {
  const rare = ['static', '/img', 'a/', '/', '/st*c/', '/*/b/', '/A/', '/a%2Fb/', '/v/*', '/a?x/']
  const plain = `/${several(chance, 1, 2, () => `${chance.pick(folders)}/`).join('')}`
  const entry = chance.happens(0.25) ? chance.pick(rare) : plain
  clues.folders.push(fill(chance, entry))
  return entry
}

function drawRoute({ chance, clues }: Draft): string {
  const rare = [
    '/a/*',
    '/a/*/b',
    '*',
    '/*.jpg',
    'index.html',
    '/',
    '/a-b',
    '/I.html',
    '/a?v=1',
    '/%7Ea',
    '/a%2Db',
    '/v/a.mp4',
    '/*/a.*',
    '/a**b',
    '/a?*',
  ]
  const entry = chance.happens(0.5) ? chance.pick(rare) : drawPath(chance)
  // Only this path matches, unlike most other rules, so it counts more.
  clues.targets.push(fill(chance, entry), fill(chance, entry), fill(chance, entry))
  return entry
}

/** Puts a text in the place of each star. */
function fill(chance: Chance, pattern: string): string {
  const text = pattern.replaceAll('*', () => chance.pick(['', 'x', 'b', 'x/y', 'a.b']))
  return text.startsWith('/') ? text : `/${text}`
}

/** Draws a regular expression for URLs, and adds a path that it matches. */
export function drawUrlRegex(draft: Draft): string {
  const { text, sample } = drawSampledUrlRegex(draft)
  draft.clues.targets.push(sample.startsWith('/') ? sample : `/${sample}`)
  return text
}

function drawSampledUrlRegex(draft: Draft): Sampled {
  const { chance } = draft
  const path = drawPath(chance)
  const kind = chance.draw()
  if (kind < 0.15) return { text: chance.pick(trivial), sample: path }
  if (kind < 0.2) return drawForeignRegex(chance)
  if (kind < 0.35) return drawSuffixRegex(chance, path)
  if (kind < 0.55) return drawWholeUrlRegex(draft)
  if (kind < 0.65) return drawQueryRegex(chance, path)
  const { text, sample } = drawSequence(chance)
  if (kind < 0.8) return { text: `/${text}`, sample: `/${sample}` }
  const start = chance.pick(['^', '^/', '^/', '/', '^[^?]*/', ''])
  const end = chance.pick(['', '', '$', '.*', '(\\?|$)'])
  return { text: start + text + end, sample: `/${sample}` }
}

const trivial = ['.*', '^.*', '.*$', '^.*$', '(.*)', '^(.*)$', '/', '^', '.+', '^.+$', '^/']

function drawSuffixRegex(chance: Chance, path: string): Sampled {
  const extension = chance.pick(extensions)
  const text = chance.pick([
    `\\.${extension}$`,
    `.*\\.${extension}$`,
    `\\.(jpg|${extension})$`,
    `\\.(?:${extension}|png)(\\?.*)?$`,
    `^.*\\.${extension}(?:$|\\?)`,
    `.${extension}`,
    `\\.jpe?g$|\\.${extension}$`,
  ])
  return { text, sample: path.replace(/\w+$/, extension) }
}

function drawWholeUrlRegex({ chance, host }: Draft): Sampled {
  const folder = chance.pick(folders)
  const scheme = chance.pick(['https://', 'http://', 'https?://', '(?:http|https)://'])
  const name = chance.pick([
    escapeRegex(host),
    escapeRegex(host),
    host,
    '[^/]+',
    'www\\.test\\.com',
  ])
  const port = chance.pick(['', '', '(:\\d+)?', ':8080'])
  const rest = chance.pick([
    `/${folder}/`,
    `/${folder}/.*`,
    '/',
    '',
    `/(v{1,3}|${folder})/.*`,
    '/.*',
  ])
  const ends = chance.pick(['^_', '^_$', '_', '_$'])
  return {
    text: ends.replace('_', () => scheme + name + port + rest),
    sample: `/${folder}/${chance.pick(['', 'x', 'a/b.jpg'])}`,
  }
}

function drawQueryRegex(chance: Chance, path: string): Sampled {
  const name = chance.pick(parameters)
  const text = chance.pick([
    `[?&]${name}=\\d+`,
    `\\?${name}=`,
    `\\?.*${name}=(\\w+)$`,
    `^[^?]*\\?${name}`,
    `${name}=7(&|$)`,
  ])
  return { text, sample: `${path}?${name}=7` }
}
