/** Puts letters of ASCII into lower case, and no others: some of them would become ASCII. */
export function lowerAscii(text: string): string {
  return /[A-Z]/.test(text) ? text.replace(/[A-Z]+/g, (part) => part.toLowerCase()) : text
}
