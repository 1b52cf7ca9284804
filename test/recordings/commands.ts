import { commandLines } from '../steps/command-lines.ts'
import type { RecordedWorkspace } from './workspace.ts'

/** Arguments of a command, or the moment at which the files change. */
export type Step = string[] | 'edit'

/** Stands for the id of the rollout or apply that the output named last. */
export const lastId = 'ID'
/** Begins a command whose output is a terminal. */
export const onTerminal = '(terminal)'

const line = (text: string): string[] => text.split(' ')

/** Lists what is run in a workspace, in its order. */
export function listSteps({ domain, commands, files }: RecordedWorkspace): Step[] {
  switch (commands) {
    case 'usual':
      return [...first(domain, files), 'edit', ...second(domain, files)]
    case 'all':
      return [...first(domain, files), ...every(domain), 'edit', ...second(domain, files)]
    case 'rollout':
      return [...first(domain, files), ...approve, 'edit', ...abort, ...second(domain, files)]
    case 'invalid':
      return invalid(domain)
    case 'none':
      return withoutWorkspace()
  }
}

/** Lists the commands before the first manifest changes. */
function first(domain: string, files: RecordedWorkspace['files']): string[][] {
  const has = (folder: string) => Object.keys(files).some((path) => path.startsWith(folder))
  return [
    line('validate'),
    line('validate --json'),
    line('fmt --check'),
    line('list --outliers'),
    line('list --outliers --json'),
    ...(has('policies/') ? [line('policies --json')] : []),
    ...(has('tests/') ? [line('test --json')] : []),
    line('plan'),
    line('plan --json'),
    line('apply --yes --allow https --allow extend'),
    line(`show ${domain}`),
    line(`show ${domain} --json`),
    ...(has('requests.json')
      ? [line('trace --requests requests.json'), line('trace --requests requests.json --json')]
      : [line(`trace https://${domain}/a.jpg?b=1`), line(`trace https://${domain}/ --json`)]),
  ]
}

/** Lists the commands of the second half. */
function second(domain: string, files: RecordedWorkspace['files']): string[][] {
  const observed =
    'live.json' in files ? ['--observed live.json', '--observed live.json --json'] : []
  const reports = ['md', 'html', 'json'].flatMap((ending) => ['--report', `plan.${ending}`])
  return [
    ['plan', '--verbose', ...reports],
    line('plan --json --out saved.json'),
    line('drift'),
    line('drift --json'),
    ...observed.map((option) => line(`drift ${option}`)),
    line('apply saved.json --yes --json --allow https --allow extend'),
    line('plan --detailed-exitcode'),
    line('state list --json'),
    line(`show ${domain} --at ${lastId}`),
    line('state history'),
    line('rollback --yes --json --allow https --allow extend'),
    line(`trace https://${domain}/ --of recorded`),
    line('state history --json'),
    line('state verify'),
    line(`state forget ${domain} --yes`),
    ...(observed.length === 0
      ? []
      : [
          line('drift --observed live.json --repair --yes'),
          line('import live.json'),
          line('import live.json --replace --yes --json'),
        ]),
  ]
}

/** Commands by their names, with the subcommands that the other command lines have. */
const helped = [
  'init',
  'lsp',
  'serve',
  'mcp',
  'emulator',
  'completion',
  'rollout',
  'state',
  ...new Set(
    commandLines.map(({ line: [name = '', verb = ''] }) =>
      /^(?:rollout|state)$/.test(name) ? `${name} ${verb}` : name,
    ),
  ),
]

/** Commands of a rollout that is paused, resumed and approved. */
const approve: string[][] = [
  'rollout list',
  `rollout pause ${lastId}`,
  'apply --yes',
  `rollout resume ${lastId} --json`,
  `rollout approve ${lastId} --json`,
  'rollout list --json',
  'apply --yes --json',
].map(line)

/** Commands of a rollout that is ended. */
const abort: string[][] = [
  `${onTerminal} plan`,
  'apply --yes --no-wait --json',
  `rollout abort ${lastId}`,
  'plan',
  'apply --yes --no-waves --retry-held',
].map(line)

/** Lists the commands that need no workspace: help of all, and what writes one. */
function withoutWorkspace(): string[][] {
  const pin = `acme/edgewise@${'0123456789'.repeat(4)}`
  const image = `registry.example.com/edgewise@sha256:${'01234567'.repeat(8)}`
  return [
    ...helped.map((command) => [...line(command), '--help']),
    ...commandLines.filter(({ needsNone }) => needsNone === true).map((each) => each.line),
    ...['bash', 'zsh', 'fish'].map((shell) => ['completion', shell]),
    ...['', 'nothing', 'plan --no-such-option', 'state', 'help plan', '--version'].map(line),
    ['init', 'plain', '--ci', 'none'],
    ['init', 'github', '--ci', 'github', '--action', pin],
    ['init', 'gitlab', '--ci', 'gitlab', '--action', image],
    ['init', 'gitlab', '--ci', 'gitlab'],
    ...['validate', 'plan', 'apply --yes'].map((command) => line(`-C plain ${command}`)),
  ]
}

/** Lists the commands that say what is wrong with a workspace, or that do without it. */
function invalid(domain: string): string[][] {
  const lines = [
    'validate',
    'validate --json',
    'validate --format github',
    'validate --format sarif',
    'plan',
    'plan --json',
    'apply --yes --json',
    'drift',
    'fmt',
    'state list',
    `show ${domain}`,
    `trace https://${domain}/`,
  ]
  return lines.map(line)
}

/** Lists each command with each form of its output, and some on a terminal. */
function every(domain: string): string[][] {
  const shown = ['plan --verbose', `show ${domain}`, 'drift', 'state history', 'explain https']
  return [
    ...shown.map((command) => line(`${onTerminal} ${command}`)),
    ...commandLines.map((each) => each.line.map((word) => word.replace('www.example.com', domain))),
  ]
}
