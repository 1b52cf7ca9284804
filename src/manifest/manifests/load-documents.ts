import { splitIntoChunks } from '../../core/model/lists.ts'
import { serial, type Parallel, type Progress, type TaskKind } from '../../core/model/parallel.ts'
import type { Diagnostic } from '../../core/model/problem.ts'
import { loadSource } from './load-source.ts'
import { parseYaml, type ParsedFile, type YamlDocument } from '../yaml/yaml-file.ts'

/** Minimum number of files that are worth other threads, whose start takes CPU time. */
const minFiles = 3_000
/** Number of files of a task. */
const filesPerTask = 100

/** Files to load: a real path, and paths relative to it. */
interface FileTask {
  root: string
  paths: string[]
}

/** The text of a file and the values of its documents, each with its index. */
interface PlainFile {
  text: string
  documents: Omit<YamlDocument, 'file'>[]
}

/** Loads and parses files; null for each one that has a problem. */
export const loadPlainFiles: TaskKind<FileTask, (PlainFile | null)[]> = {
  name: 'loadPlainFiles',
  minBytes: 0,
  run: ({ root, paths }, { progress }) => {
    const folders = new Map<string, boolean>()
    return paths.map((path, i) => {
      progress(i, paths.length)
      const loaded = loadFile(root, path, folders)
      if ('severity' in loaded || loaded.diagnostics.length > 0) return null
      const documents = loaded.documents.map(({ file: _file, ...each }) => each)
      return { text: loaded.file.text, documents }
    })
  },
}

/**
 * Loads and parses files of a workspace, perhaps in several threads. This thread loads those with a
 * problem itself, so that diagnostics are the same with any number of threads.
 *
 * @param root a real path
 * @param paths relative to the root
 * @param progress gets the number of loaded files
 */
export function loadDocuments(
  root: string,
  paths: string[],
  parallel: Parallel = serial,
  progress?: Progress,
): (ParsedFile | Diagnostic)[] {
  const report: Progress = (made, all) =>
    progress?.(Math.floor((paths.length * made) / all), paths.length)
  const folders = new Map<string, boolean>()
  if (paths.length < minFiles)
    return paths.map((path, i) => {
      report(i, paths.length)
      return loadFile(root, path, folders)
    })
  const tasks = splitIntoChunks(paths, filesPerTask).map((part) => ({ root, paths: part }))
  const loaded = parallel.run(loadPlainFiles, tasks, { progress: report })
  return loaded.flat().map((plain, i) => {
    const path = paths[i] ?? ''
    if (plain === null) return loadFile(root, path, folders)
    const file = { path, text: plain.text }
    return { file, documents: plain.documents.map((each) => ({ file, ...each })), diagnostics: [] }
  })
}

function loadFile(
  root: string,
  path: string,
  folders: Map<string, boolean>,
): ParsedFile | Diagnostic {
  const file = loadSource(root, path, folders)
  return 'text' in file ? parseYaml(file) : file
}
