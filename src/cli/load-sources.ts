import { relative, resolve, sep } from 'node:path'
import { decodeText } from '../core/model/input-limits.ts'
import { EdgewiseError, throwDefect } from '../core/model/edgewise-error.ts'
import type { ImportSource } from '../operations/import/import-file.ts'
import type { Io } from './io.ts'
import { findCheckout } from '../state/git/find-repository.ts'
import { loadFile, maxBytes } from './load-file.ts'

const stdinName = '(stdin)'

/**
 * Loads the files of an import; `-` is stdin. A file that can't be loaded has the reason instead of
 * its text, so that the problems of the others are reported too.
 *
 * @param root folder that names are relative to
 * @throws EdgewiseError `usage` if stdin is given twice, is a terminal or can't be read
 */
export async function loadSources(
  files: string[],
  root: string,
  { cwd, openStdin, signal }: Io,
): Promise<ImportSource[]> {
  if (files.filter((file) => file === '-').length > 1)
    throw new EdgewiseError('usage', '"-" is given twice: stdin can be read only once')
  const sources: ImportSource[] = []
  for (const file of files)
    sources.push(
      file === '-' ? await loadStdin(openStdin, signal) : loadSource(resolve(cwd, file), root),
    )
  return sources
}

function loadSource(path: string, root: string): ImportSource {
  const within = relative(root, path).split(sep).join('/')
  const name = within.startsWith('..') ? path : within
  try {
    return { name, path, text: loadFile(path, path, '', findCheckout(root) ?? root) }
  } catch (error) {
    throwDefect(error)
    return { name, path, fault: `${error.message}. ${error.hint}`.trimEnd() }
  }
}

/** Loads stdin as UTF-8; it has the reason instead of its text if that fails. */
export async function loadStdin(
  openStdin: Io['openStdin'],
  signal: AbortSignal,
): Promise<ImportSource> {
  if (openStdin === null)
    throw new EdgewiseError(
      'usage',
      '"-" is stdin, and stdin is a terminal: nothing would end it',
      'Pipe a text in, or pass a file.',
    )
  const stdin = openStdin()
  const stop = () => void stdin.destroy(new Error('interrupted'))
  signal.addEventListener('abort', stop, { once: true })
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of stdin as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > maxBytes)
        return { name: stdinName, fault: `expected at most ${maxBytes / 1024 / 1024} MB, got more` }
      chunks.push(chunk)
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new EdgewiseError('usage', `stdin: ${signal.aborted ? 'interrupted' : (code ?? message)}`)
  } finally {
    signal.removeEventListener('abort', stop)
  }
  const decoded = decodeText(Buffer.concat(chunks))
  if ('text' in decoded) return { name: stdinName, text: decoded.text }
  return { name: stdinName, fault: `${decoded.fault}. Pass UTF-8 without a byte order mark.` }
}
