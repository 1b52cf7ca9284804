import { buildOne, count, list, quote, repeat, writeManifest, type Builder } from './bomb.ts'
import { documents, drawTokens, fields, nests, settings } from './tokens.ts'

const secret = 'secrets: {s: {env: BOMB_SECRET}}\n'
const valid = writeManifest('  https: {cert_id: 1}\n')

/** Bombs of texts: a token repeated, at every place, as one text, as many, or as a file. */
export const textBombs: Record<string, Builder> = {
  field: (bytes, chance) => {
    const text = repeat(drawTokens(chance), bytes)
    const field = chance.pick(fields)(chance.happens(0.8) ? quote(text) : text)
    return buildOne(`domain: www.example.com\nvars: {v: aaaa}\nconfig:\n  ${field}\n`, secret)
  },
  fields: (bytes, chance) => {
    const each = chance.pick([100, 1000, 20_000, 60_000])
    const text = quote(repeat(drawTokens(chance), each))
    const entries = list(count(bytes, each), () => text, ', ')
    return buildOne(writeManifest(`  ${chance.pick(fields)(entries)}\n`), secret)
  },
  setting: (bytes, chance) => {
    const text = quote(repeat(drawTokens(chance), chance.pick([bytes, 900, 60_000])))
    return buildOne(valid, `${chance.pick(settings)(text)}\n`)
  },
  settings: (bytes, chance) => {
    const write = () => quote(repeat(drawTokens(chance), chance.between(10, 100)))
    return buildOne(valid, `${chance.pick(settings)(list(count(bytes, 60), write, ', '))}\n`)
  },
  place: (bytes, chance) => {
    const each = chance.pick([bytes, 60_000, 30])
    const text = list(count(bytes, each), () => quote(repeat(drawTokens(chance), each)), ', ')
    return buildOne(`${valid}---\n${chance.pick(documents)(text)}`)
  },
  nest: (bytes, chance) => {
    const build = chance.pick(nests)
    const text = build(Math.floor((bytes / build(100).length) * 100))
    return buildOne(chance.happens(0.5) ? writeManifest(`  https: ${text}\n`) : text.trimStart())
  },
  file: (bytes, chance) => {
    const end = chance.pick(['', '\n', '\r\n', '\r'])
    return buildOne(repeat(drawTokens(chance) + end, bytes))
  },
  documents: (bytes, chance) => {
    const each = chance.pick(['---\n', '---\na\n', '--- {}\n', '...\n', `---\n${valid}`, '%a\n'])
    return buildOne(repeat(each, bytes))
  },
  lines: (bytes, chance) => {
    const line = chance.pick(['#\n', '\n', ' \n', '# a\n', '\r\n', ' #\n', '    # key: a\n'])
    return buildOne(`${valid}${repeat(line, bytes)}  foo: 1\n  bar: 1\n`)
  },
}
