import { Argument } from 'commander'
import type { Declare } from './declare.ts'

/** `edgewise completion`: prints a shell completion script. */
export function declareCompletion(declare: Declare): void {
  declare('completion', {
    description: 'print a shell completion script',
    examples: [
      'completion bash > /etc/bash_completion.d/edgewise',
      'completion zsh > ~/.zfunc/_edgewise',
      'completion fish > ~/.config/fish/completions/edgewise.fish',
    ],
    run: async ({ io }, [shell]) => {
      const { scripts } = await import('../completion/scripts.ts')
      io.out(scripts[String(shell) as keyof typeof scripts])
    },
  }).addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
}

/**
 * `edgewise complete`: lists completions of the last of some words, for the scripts. Prints nothing
 * on errors, which would be in the middle of a command line.
 */
export function declareComplete(declare: Declare): void {
  const command = declare('complete [words...]', {
    description: 'list completions of the last word',
    examples: ['complete -- plan --item ht'],
    hidden: true,
    run: async (context, [words]) => {
      const { completeWords } = await import('../completion/complete-words.ts')
      const found = completeWords(command.parent ?? command, words as string[], context)
      const lines =
        typeof found === 'string'
          ? [found]
          : found.map(({ word, description }) =>
              description === '' ? word : `${word}\t${description}`,
            )
      context.io.out(lines.map((line) => `${line}\n`).join(''))
    },
  })
}
