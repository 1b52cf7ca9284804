import { EdgewiseError } from '../model/edgewise-error.ts'
import { findLinkIn } from './find-link.ts'

/**
 * Refuses a path to write to that leads through a link in the checkout.
 *
 * @throws EdgewiseError `usage`
 */
export function refuseLinkIn(checkout: string, path: string): void {
  const link = findLinkIn(checkout, path)
  if (link !== null) throw createLinkError(path, link)
}

/** Creates the error of a path to write to that leads through a link in the checkout. */
export function createLinkError(path: string, link: string): EdgewiseError {
  return new EdgewiseError(
    'usage',
    `${path} is not written: ${link} is a symbolic link in the checkout, and a commit can ` +
      'bring one',
    'Remove the link, or choose a path outside of the checkout.',
  )
}
