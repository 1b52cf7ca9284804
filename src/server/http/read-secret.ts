import { EdgewiseError } from '../../core/model/edgewise-error.ts'

/** Minimum length of a secret of the HTTP interface, characters. */
const minLength = 16

/**
 * Reads a secret of the HTTP interface from its variable, without line ends after it, as files of
 * secrets have them. Returns an empty string, which turns a part of the interface off, if the
 * variable has no value.
 *
 * @throws EdgewiseError `usage` when the secret could match nothing, or could be guessed
 */
export function readSecret(name: string, env: Record<string, string | undefined>): string {
  const { [name]: text = '' } = env
  if (text === '') return ''
  const secret = text.replace(/(?<![\r\n])[\r\n]+$/, '')
  const fault = findFault(secret)
  if (fault === null) return secret
  throw new EdgewiseError(
    'usage',
    `${name} ${fault}`,
    'Choose a long random text, for example by "openssl rand -hex 32", or unset the variable.',
  )
}

function findFault(secret: string): string | null {
  if (secret === '') return 'is empty'
  // Other characters are no part of a header, or clients encode them in different ways.
  if (!/^[!-~]*$/.test(secret)) return 'has blanks or other characters than those of ASCII'
  return secret.length < minLength ? `has fewer than ${minLength} characters` : null
}
