import { expect, it } from 'vitest'
import { askYesNo } from '../../src/cli/run-process.ts'

/** Answers the question with each text in turn, and returns the result and the questions. */
async function answer(...answers: (string | null)[]) {
  const asked: string[] = []
  const result = await askYesNo('Apply?', async (question) => {
    asked.push(question)
    return answers.shift() ?? null
  })
  return { result, asked }
}

it.each([
  ['YES', true],
  [' Yes ', true],
  ['n', false],
  ['No', false],
  ['', false],
  [null, false],
])('the answer %j means %s', async (text, result) => {
  expect(await answer(text)).toEqual({ result, asked: ['Apply? Type "yes" to continue: '] })
})

it('an unclear answer is asked again', async () => {
  const { result, asked } = await answer('y', 'ja', 'yes')
  expect(result).toBe(true)
  expect(asked.slice(1)).toEqual(Array(2).fill('The answer is unclear. Type "yes" or "no": '))
  expect((await answer('what?', null)).result).toBe(false)
})
