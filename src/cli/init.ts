import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { exits } from './exits.ts'
import { initialFiles } from './initial-files.ts'
import type { CommandContext } from './io.ts'

/** `edgewise init`: writes a workspace that validates, plans and applies (to the emulator) as it stands. */
export async function init(context: CommandContext, [dir]: unknown[]): Promise<number> {
  const { io } = context
  const root = resolve(io.cwd, context.options.workspace ?? '.', String(dir ?? '.'))
  const files = Object.entries(initialFiles())
  const taken = files.map(([path]) => path).filter((path) => path !== '.gitignore' && existsSync(join(root, path)))
  if (taken.length > 0) {
    throw new EdgewiseError(
      'usage',
      `${taken.join(', ')} ${taken.length === 1 ? 'is' : 'are'} already there; nothing was written`,
      'Choose an empty folder: edgewise init DIR.',
    )
  }
  for (const [path, text] of files) {
    const target = join(root, path)
    mkdirSync(dirname(target), { recursive: true })
    if (path === '.gitignore') addLines(target, text)
    else writeFileSync(target, text, { flag: 'wx' })
    io.out(`wrote ${relative(io.cwd, target) || target}\n`)
  }
  const there = relative(io.cwd, root)
  io.out(`\nNext:\n${there === '' ? '' : `  cd ${there}\n`}  edgewise validate\n  edgewise plan\n  edgewise apply\n`)
  return exits.done
}

/** Adds the lines that a file does not have yet. */
function addLines(path: string, text: string): void {
  const before = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const have = new Set(before.split(/\r?\n/))
  const missing = text.split('\n').filter((line) => line !== '' && !have.has(line))
  if (missing.length > 0) writeFileSync(path, `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${missing.join('\n')}\n`)
}
