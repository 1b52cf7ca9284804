import { basename } from 'node:path'
import { transformSync, type Metafile, type OutputFile } from 'esbuild'

/** Files that keep their names: Node starts them, or they are modules that others import. */
const kept = ['dist/cli/main.js', 'dist/index.js']
/** Stays a module, for programs that import the library. */
const library = 'dist/index.js'

/** A bundle whose files are not written yet. */
export interface Bundled {
  metafile: Metafile
  outputFiles: OutputFile[]
}

/**
 * Turns the files of a bundle into CommonJS, which Node loads sooner than modules, and whose
 * compiled code the program can keep. The bundler itself splits modules only.
 *
 * @returns the texts of all files and what is known about them, by their paths from the repository
 */
export function convertToCommonJs(
  { metafile, outputFiles }: Bundled,
  folder: string,
): { metafile: Metafile; texts: Map<string, string> } {
  refuseCircles(metafile.outputs)
  const paths = Object.keys(metafile.outputs)
  const rename = (path: string) => (kept.includes(path) ? path : path.replace(/\.js$/, '.cjs'))
  const renamed = new Map(
    paths.filter((path) => rename(path) !== path).map((path) => [basename(path), rename(path)]),
  )
  const texts = new Map<string, string>()
  for (const { path: absolute, text } of outputFiles) {
    const path = absolute.slice(folder.length)
    const linked = text.replace(/(?<=["/])([\w-]+\.js)(?=")/g, (name: string) =>
      basename(renamed.get(name) ?? name),
    )
    texts.set(rename(path), path === library ? linked : convert(linked))
  }
  const outputs = Object.fromEntries(
    Object.entries(metafile.outputs).map(([path, output]) => [
      rename(path),
      {
        ...output,
        bytes: Buffer.byteLength(texts.get(rename(path)) ?? ''),
        imports: output.imports.map((each) => ({ ...each, path: rename(each.path) })),
      },
    ]),
  )
  return { metafile: { ...metafile, outputs }, texts }
}

const ownUrl = 'const ownUrl = require("node:url").pathToFileURL(__filename).href;'

function convert(text: string): string {
  const { code } = transformSync(text, {
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    // A script with kept code has no way to import.
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': 'ownUrl' },
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: 200,
    logLevel: 'warning',
  })
  const direct = exportValues(code.replaceAll(/__toESM\(\s*(require\(\s*"\.[^"]*"\))\)/g, '$1'))
  const whole = direct.includes('ownUrl')
    ? direct.replace(/^(#!.*\n)?("use strict";)?/, `$1$2${ownUrl}`)
    : direct
  // It names the exports for modules, and never runs.
  return shortenLocals(whole) + (/0&&\(module\.exports=.*?\);/s.exec(whole) ?? '')
}

/** Shortens names within functions. */
function shortenLocals(code: string): string {
  return transformSync(code, {
    minifyIdentifiers: true,
    minifyWhitespace: true,
    target: 'node20',
    lineLimit: 200,
  }).code
}

/**
 * Exports values at the end of a file instead of functions that return them: each use of a name
 * calls two. A name that another file exports, or that is assigned more than once, keeps one.
 */
function exportValues(code: string): string {
  const [block] = /var stdin_exports=.*?__toCommonJS\(\s*stdin_exports\);/s.exec(code) ?? []
  if (block === undefined) return code
  // Lines may end after any sign.
  const list = /__export\(stdin_exports,\{(.*?)\}\)/.exec(block.replaceAll('\n', ''))?.[1]
  if (list === undefined) return code
  const rest = code.replace(block, '')
  const entries = list.split(',').map((entry) => {
    const [name = '', local = ''] = entry.split(':()=>')
    if (local.includes('.') || !isConstant(rest, local)) return `get ${name}(){return ${local}}`
    return name === local ? name : `${name}:${local}`
  })
  return `${rest}module.exports={${entries.join(',\n')}};\n`
}

/**
 * Tests whether the text of a file assigns a name at most once, where it is declared. Modules that
 * other packages require are only evaluated then: `__esm` assigns their names.
 */
function isConstant(code: string, name: string): boolean {
  const word = `${name.replaceAll('$', '\\$')}(?![\\w$])`
  const operators = '=(?![=>])|(?:[-+*/%&|^]|\\*\\*|<<|>>>?|&&|\\|\\||\\?\\?)=|\\+\\+|--'
  const assigned = new RegExp(`(?<![\\w$.])${word}\\s*(?:${operators})|(?:\\+\\+|--)${word}`, 'g')
  const isHoisted = new RegExp(`(?:function\\*?|class)\\s+${word}`).test(code)
  const max = isHoisted || code.includes('__esm') ? 0 : 1
  return [...code.matchAll(assigned)].length <= max
}

/** Refuses files that import each other in a circle: one would read what is not there yet. */
function refuseCircles(outputs: Metafile['outputs']): void {
  const done = new Set<string>()
  const visit = (path: string, above: string[]) => {
    if (above.includes(path)) throw new Error(`circle of files: ${[...above, path].join(' → ')}`)
    if (done.has(path)) return
    for (const { path: other, kind } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement') visit(other, [...above, path])
    done.add(path)
  }
  for (const path of Object.keys(outputs)) visit(path, [])
}
