/**
 * Asks a question until the answer is clear: only the whole word is consent. An empty answer, and
 * the end of the input, mean no.
 *
 * @param prompt returns a line, or null at the end of the input
 */
export async function askYesNo(
  question: string,
  prompt: (question: string) => Promise<string | null>,
): Promise<boolean> {
  let text = `${question} Type "yes" to continue: `
  for (;;) {
    const answer = (await prompt(text))?.trim().toLowerCase() ?? ''
    if (answer === 'yes') return true
    if (['', 'n', 'no'].includes(answer)) return false
    text = 'The answer is unclear. Type "yes" or "no": '
  }
}
