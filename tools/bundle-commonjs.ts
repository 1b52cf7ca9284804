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
  return code.includes('ownUrl')
    ? code.replace(/^(#!.*\n)?("use strict";)?/, `$1$2${ownUrl}`)
    : code
}
