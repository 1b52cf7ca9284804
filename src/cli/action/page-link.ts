import { parseUrl } from '../../core/model/text/url.ts'

/** Maximum length of the address of a page: a report leaves room for it in a comment. */
const maxCharacters = 400

/**
 * Adds a link to the page below the summary of a report; none if the address is empty.
 *
 * @throws Error if the address is not one of HTTPS, has credentials, or is too long
 */
export function addPageLink(report: string, address: string): string {
  if (address === '') return report
  const link = `[All changes as a page](${formatUrl(address)})`
  // The heading and the summary are the first two paragraphs.
  const end = report.indexOf('\n\n', report.indexOf('\n\n') + 2)
  return end < 0
    ? `${report.trimEnd()}\n\n${link}\n`
    : `${report.slice(0, end)}\n\n${link}${report.slice(end)}`
}

/** Formats an address for Markdown, in which it can end neither the link nor the line. */
function formatUrl(address: string): string {
  // The message has no part of the address, which may have a password.
  const invalid = 'expected the input "page-url" to be an HTTPS address without credentials'
  const url = /^[\x21-\x7e]+$/.test(address) ? parseUrl(address) : null
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '')
    throw new Error(invalid)
  const text = url.href.replaceAll(/[()<>[\]\\`*|"'^{}]/g, escapeCharacter).replaceAll('&', '&amp;')
  if (text.length > maxCharacters)
    throw new Error(`the input "page-url" has more than ${maxCharacters} characters`)
  return text
}

function escapeCharacter(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
