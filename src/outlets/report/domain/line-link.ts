import type { Place } from '../../../core/model/problem.ts'

/** Addresses of lines at the code hosts that are known, by the host of a repository. */
const forms: [host: RegExp, before: string, line: string][] = [
  [/^github\.com$/, 'blob', '#L'],
  [/^(?:gitlab\.com|gitlab\..+)$/, '-/blob', '#L'],
  [/^bitbucket\.org$/, 'src', '#lines-'],
]

/**
 * Creates a search for the address of a line at the code host; it finds none without a commit,
 * and for a host that is not known.
 *
 * @param name of the repository, such as `github.com/team/cdn`
 * @param folder of the workspace in the repository
 */
export function createLinkFinder(
  name: string,
  folder: string,
  commit: string | null,
): (place: Place) => string | null {
  const [host = ''] = name.split('/')
  const form = forms.find(([pattern]) => pattern.test(host))
  if (form === undefined || commit === null) return () => null
  const [, before, line] = form
  return (place) => {
    const path = [...folder.split('/'), ...place.file.split('/')].filter((step) => step !== '')
    const steps = [...name.split('/'), ...before.split('/'), commit, ...path]
    return `https://${steps.map(encodeURIComponent).join('/')}${line}${place.line}`
  }
}
