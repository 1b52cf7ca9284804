// @module-tag often
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { escapeJson, formatJson, type JsonObject } from '../../src/core/model/json.ts'
import { Place } from './cli.ts'
import { commandLines } from './command-lines.ts'
import { loadEntries } from './load-chain.ts'
import { emulator, enterPlace, place, setStage } from './stage.ts'

setStage()
const www = 'www.example.com'
/** A mark that reverses what follows, one that takes no room, and a tag character. */
const hidden = '\u202e\u200b\u{e0041}'
const invisible = /[\u202e\u200b]|\u{e0041}/u

/** Lists the JSON files of the place with an invisible character. */
function listHiding(): string[] {
  const files = readdirSync(place.root, { recursive: true, encoding: 'utf8' })
  return files.filter((path) => {
    const file = join(place.root, path)
    const isJson = /\.(?:json|jsonl|sarif)$/.test(path) && statSync(file).isFile()
    return isJson && invisible.test(readFileSync(file, 'utf8'))
  })
}

it('no command writes JSON that hides something, whatever foreign texts have', async () => {
  enterPlace(new Place(emulator.url))
  place.env['EDGEWISE_USER'] = `eve${hidden}`
  const headers = (value: string) => ({ type: 'reset', list: [{ name: 'X-A', value }] })
  place.manifest(www, { add_response_head: headers(`a${hidden}b`) })
  const wrong: unknown[] = []
  const own = ['apply', '--yes', '--reason', `so${hidden}`, '--report', 'first.json']
  for (const line of [own, ...commandLines.map((each) => each.line)]) {
    const { out } = await place.cli(...line)
    if (line === own) {
      expect(loadEntries()[0]?.reason).toBe(`so${hidden}`)
      place.manifest(www, { add_response_head: headers(`c${hidden}d`) })
    }
    if (line.includes('--json') && invisible.test(out)) wrong.push([line, 'stdout'])
    for (const path of listHiding())
      // The text of a manifest is as somebody wrote it.
      if (!path.endsWith('.yaml')) wrong.push([line.join(' '), path])
    if (wrong.length > 0) break
  }
  expect(wrong).toEqual([])
  for (const path of ['plan.json', 'plan-report.json', 'first.json', 'show-report.json'])
    expect([path, existsSync(join(place.root, path))]).toEqual([path, true])
  const plan = JSON.parse(place.read('plan-report.json')) as { changes: { after: JsonObject }[] }
  expect(plan.changes.map(({ after }) => after)).toEqual([headers(`c${hidden}d`)])
})

it('escaped JSON has the same value, and its lines', () => {
  const value = {
    [`k${hidden}`]: [`v${hidden}`, '\u0085\u2028\u00ad\ufeff', 'é 日本 👩‍👧', '\n\t\u001b'],
  }
  for (const indent of [undefined, 2]) {
    const text = formatJson(value, indent)
    expect(JSON.parse(text)).toEqual(value)
    expect(text).not.toMatch(/[\u0085\u2028\u00ad\ufeff\u202e\u200b]|\u{e0041}/u)
    expect(text).toContain('é 日本 👩‍👧')
    expect(escapeJson(text)).toBe(text)
    expect(text.split('\n')).toHaveLength(
      JSON.stringify(value, null, indent).split('\n').length + 1,
    )
  }
})

it('no other code makes a line or a file of JSON', () => {
  const root = join(import.meta.dirname, '../../src')
  const found = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => {
    if (!path.endsWith('.ts') || path.includes('generated') || path.endsWith('/format-json.ts'))
      return false
    const text = readFileSync(join(root, path), 'utf8')
    return /(?:\.out|\.err)\([^\n]*JSON\.stringify|`\$\{JSON\.stringify\([^`]*\\n`/.test(text)
  })
  // The line of a saved plan's approval is read by this program alone.
  expect(found.filter((path) => !path.startsWith('cli/agents/'))).toEqual([])
})
