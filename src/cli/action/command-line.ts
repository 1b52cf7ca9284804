import { splitWords } from '../../core/model/text/split-words.ts'
import { listReports, type Inputs } from './inputs.ts'

/** Inputs that stand for an option of the program. */
const inputsByOption: Record<string, string> = {
  '-C': 'workspace',
  '--workspace': 'workspace',
  '--out': 'plan',
  '--report': 'report',
  '--observed': 'observed',
}

/**
 * Builds the arguments of the program from the inputs. No shell sees them.
 *
 * @throws Error if an input is missing or invalid
 */
export function buildCommandLine(inputs: Inputs): string[] {
  const { command, workspace, observed } = inputs
  if (!/^[a-z]+$/.test(command))
    throw new Error(
      `expected a command of Edgewise such as plan, apply or drift, comment or issue, got ` +
        `"${command}"`,
    )
  const args = splitArguments(inputs.args)
  const start = [...(workspace === '' ? [] : ['-C', workspace]), command, ...args]
  switch (command) {
    case 'validate':
      return isFormatted(args) ? start : [...start, '--format', 'github']
    case 'plan': {
      const files = ['--out', requireInput(inputs, 'plan'), ...buildReports(inputs)]
      return [...start, ...files, '--detailed-exitcode']
    }
    case 'apply': {
      const planFile = inputs.plan === '' ? [] : ['--', inputs.plan]
      // The log shows what the report folds.
      return [...start, '--verbose', ...buildReports(inputs), ...planFile]
    }
    case 'drift': {
      const source = observed === '' ? [] : ['--observed', observed]
      return [...start, ...buildReports(inputs), ...source]
    }
    default:
      return start
  }
}

/** Returns whether the program prints commands for the runner: annotations of manifests. */
export function printsAnnotations({ command, args }: Inputs): boolean {
  return command === 'test' || (command === 'validate' && !isFormatted(splitWords(args)))
}

function splitArguments(text: string): string[] {
  const args = splitWords(text)
  for (const word of args) {
    const option = word.startsWith('-C') ? '-C' : (word.split('=')[0] ?? '')
    const input = inputsByOption[option]
    if (input !== undefined)
      throw new Error(`"${option}" is in the input "args". Set the input "${input}" instead.`)
  }
  return args
}

function isFormatted(args: string[]): boolean {
  return args.some((word) => word === '--json' || word.startsWith('--format'))
}

/** Builds the options with the files of the reports. */
function buildReports(inputs: Inputs): string[] {
  requireInput(inputs, 'report')
  return listReports(inputs).flatMap((file) => ['--report', file])
}

function requireInput(inputs: Inputs, name: 'plan' | 'report'): string {
  if (inputs[name].trim() === '')
    throw new Error(`the input "${name}" is empty. Name a file outside the checkout.`)
  return inputs[name]
}
