import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DocStep } from './docs-page.ts'
import { hashPagePicture, takePagePicture, type PagePicture } from './page-pictures.ts'
import { drawTerminal, type TerminalRun } from './terminal-svg.ts'

/** A picture of a page of the docs. */
export interface Picture {
  /** Changes a command so that it prints or writes what is drawn. */
  wrap(command: string): string
  add(run: TerminalRun): void
  /** Whether the files show what was added. */
  isCurrent(): boolean
  draw(): Promise<void>
}

/** Hashes of the pictures that a browser took, by path. */
const hashFile = 'test/docs/pictures.json'

/**
 * Creates a picture: that of a terminal if its path ends in `.svg`, else one of a page.
 *
 * @param home for folders of the commands
 */
export function createPicture(
  root: string,
  home: string,
  { path, fragment, part }: Extract<DocStep, { kind: 'picture' }>,
): Picture {
  return path.endsWith('.svg')
    ? createDrawing(join(root, path))
    : createPhoto(root, mkdtempSync(join(home, 'page-')), { path, fragment, part })
}

function createDrawing(file: string): Picture {
  const runs: TerminalRun[] = []
  return {
    wrap: (command) => `FORCE_COLOR=1 ${command}`,
    add: (run) => runs.push(run),
    isCurrent: () => existsSync(file) && readFileSync(file, 'utf8') === drawTerminal(runs),
    draw: async () => {
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, drawTerminal(runs))
    },
  }
}

function createPhoto(root: string, folder: string, view: Omit<PagePicture, 'html'>): Picture {
  const { path } = view
  const load = () => ({ ...view, html: readFileSync(join(folder, 'page.html'), 'utf8') })
  const loadHashes = () =>
    JSON.parse(readFileSync(join(root, hashFile), 'utf8')) as Record<string, unknown>
  return {
    wrap: (command) => `( cd '${folder}' && ${command} )`,
    add: () => undefined,
    isCurrent: () => hashPagePicture(root, load()) === (loadHashes()[path] ?? ''),
    draw: async () => {
      await takePagePicture(root, load())
      const hashes = { ...loadHashes(), [path]: hashPagePicture(root, load()) }
      writeFileSync(join(root, hashFile), `${JSON.stringify(hashes, null, 2)}\n`)
    },
  }
}
