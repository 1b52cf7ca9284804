import { standardError } from '../../files/standard-output.ts'
import { SingleBar } from 'cli-progress'

/**
 * Creates a progress bar on stderr. Import this file on demand: only terminals need it.
 *
 * @param format of cli-progress; its placeholders are filled by `update`
 * @param clears whether the bar is cleared at the end
 * @param columns width of the bar without its text
 */
export function createBar(format: string, clears: boolean, columns = 24): SingleBar {
  return new SingleBar({
    stream: standardError.open(),
    format,
    barsize: columns,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    clearOnComplete: clears,
  })
}
