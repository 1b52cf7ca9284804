import { Argument, type Command } from 'commander'
import { exitCodes } from '../exit-codes.ts'
import type { Declare } from './declare.ts'

/** `edgewise completion`: prints a shell completion script. */
export function declareCompletion(program: Command, declare: Declare): void {
  declare(program, 'completion', {
    description: 'print a shell completion script',
    examples: [
      'completion bash > /etc/bash_completion.d/edgewise',
      'completion zsh > ~/.zfunc/_edgewise',
      'completion fish > ~/.config/fish/completions/edgewise.fish',
    ],
    run: async ({ io }, [shell]) => {
      const { scripts } = await import('../completion/scripts.ts')
      io.out(scripts[String(shell) as keyof typeof scripts])
      return exitCodes.done
    },
  }).addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
}

/**
 * `edgewise complete`: lists completions of the last of some words, for the scripts. Prints nothing
 * on errors, which would be in the middle of a command line.
 */
export function declareComplete(program: Command, declare: Declare): void {
  declare(program, 'complete [words...]', {
    description: 'list completions of the last word',
    examples: ['complete -- plan --item ht'],
    hidden: true,
    run: async (context, [words]) => {
      const { completeWords } = await import('../completion/complete-words.ts')
      const found = completeWords(program, words as string[], context)
      const lines =
        typeof found === 'string'
          ? [found]
          : found.map(({ word, description }) =>
              description === '' ? word : `${word}\t${description}`,
            )
      context.io.out(lines.map((line) => `${line}\n`).join(''))
      return exitCodes.done
    },
  })
}
