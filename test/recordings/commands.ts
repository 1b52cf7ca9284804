import { commandLines } from '../steps/command-lines.ts'
import type { RecordedWorkspace } from './workspace.ts'

/** Arguments of a command, or the moment at which the files change. */
export type Step = string[] | 'edit'

const line = (text: string): string[] => text.split(' ')

/** Lists what is run in a workspace, in its order. */
export function listSteps({ domain, commands, files }: RecordedWorkspace): Step[] {
  if (commands === 'invalid') return invalid(domain)
  return commands === 'all'
    ? [...first(domain, files), ...every(domain), 'edit', ...second(domain)]
    : [...first(domain, files), 'edit', ...second(domain)]
}

/** Lists the commands before the first manifest changes. */
function first(domain: string, files: RecordedWorkspace['files']): string[][] {
  const has = (folder: string) => Object.keys(files).some((path) => path.startsWith(folder))
  return [
    line('validate'),
    line('validate --json'),
    line('fmt --check'),
    line('check --outliers'),
    line('check --json'),
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
function second(domain: string): string[][] {
  const reports = ['md', 'html', 'json'].flatMap((ending) => ['--report', `plan.${ending}`])
  return [
    ['plan', '--verbose', ...reports],
    line('plan --json --out saved.json'),
    line('drift'),
    line('drift --json'),
    line('apply saved.json --yes --json --allow https --allow extend'),
    line('plan --detailed-exitcode'),
    line('state list --json'),
    line(`state show ${domain}`),
    line('state history'),
    line('rollback --yes --json --allow https --allow extend'),
    line(`trace https://${domain}/ --of recorded`),
    line('state history --json'),
    line('state verify'),
    line(`state forget ${domain} --yes`),
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

/** Lists each command with each form of its output. */
function every(domain: string): string[][] {
  return commandLines.map((each) =>
    each.line.map((word) => word.replace('www.example.com', domain)),
  )
}
