import { SingleBar } from 'cli-progress'

/**
 * A progress bar on stderr. Loaded by `import('./bar.ts')`, so that only terminals pay for it.
 *
 * @param format of cli-progress; what else it names comes with `update`
 * @param clears whether nothing is left of it in the end
 */
export function openBar(format: string, clears: boolean): SingleBar {
  return new SingleBar({
    stream: process.stderr,
    format,
    barsize: 24,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    clearOnComplete: clears,
  })
}
