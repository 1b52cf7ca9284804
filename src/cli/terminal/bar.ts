import { SingleBar } from 'cli-progress'

/**
 * A progress bar on stderr. Loaded by `import('./bar.ts')`, so that only terminals pay for it.
 *
 * @param format of cli-progress; what else it names comes with `update`
 * @param clears whether nothing is left of it in the end
 * @param columns of the bar itself
 */
export function createBar(format: string, clears: boolean, columns = 24): SingleBar {
  return new SingleBar({
    stream: process.stderr,
    format,
    barsize: columns,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    clearOnComplete: clears,
  })
}
