import { listEndings } from '../../src/cli/report-formats/formats.ts'
import type { ReportCommand } from '../../src/cli/report-formats/subjects.ts'

/** A command line whose output could show a secret. */
export interface CommandLine {
  line: string[]
  /** Schema of its output in `schemas/output`; absent: it prints text, or a foreign format. */
  schema?: string
  /** Whether it works without a workspace. */
  needsNone?: true
}

const www = 'www.example.com'

const text = (...line: string[]): CommandLine => ({ line })
const json = (schema: string, ...line: string[]): CommandLine => ({
  line: [...line, '--json'],
  schema,
})
const alone = (...line: string[]): CommandLine => ({ line, needsNone: true })

/** Options for a report of a command in each of its formats. */
const reports = (command: ReportCommand) =>
  listEndings(command).flatMap((ending) => ['--report', `${command}-report${ending}`])

/**
 * Command lines with each command and each form of its output, in an order in which they can be run
 * in a workspace with the domain `www.example.com`. All tests that look for secrets run them.
 */
export const commandLines: CommandLine[] = [
  text('validate'),
  json('diagnostics', 'validate'),
  text('validate', '--allow-empty', 'domains/*'),
  text('validate', '--fix', '--yes', '-W', 'rule-shadowed', '-E', 'rule-duplicate'),
  text('validate', '--format', 'text'),
  text('validate', '--format', 'json'),
  text('validate', '--format', 'github'),
  text('validate', '--format', 'sarif'),
  text('list', '--outliers', ...reports('list')),
  json('list', 'list', '--outliers', '--of', 'recorded'),
  text('plan', '--verbose', ...reports('plan')),
  json('plan', 'plan', '--out', 'plan.json'),
  text('apply', '--yes', '--verbose', ...reports('apply')),
  json('apply-event', 'apply', '--yes', '--metrics-file', 'apply.prom'),
  text('show', www, ...reports('show')),
  json('show', 'show', www),
  text('report', '--html', 'site'),
  json('report', 'report', '--html', 'site'),
  text('drift', '--verbose', ...reports('drift')),
  json('drift', 'drift'),
  text('state', 'list'),
  json('state-list', 'state', 'list'),
  text('show', www, '--at', 'none'),
  text('show', `sub.${www}`),
  text('state', 'history', ...reports('history')),
  json('history', 'state', 'history'),
  text('trace', `https://${www}/`),
  json('trace', 'trace', `https://${www}/`),
  text('test', '--record', `https://${www}/`),
  text('test', ...reports('test'), '--mutate'),
  json('test', 'test', '--mutate'),
  json('test', 'test', '--record', `https://${www}/`, '--yes'),
  text('policies'),
  json('policies', 'policies'),
  text('stats', www),
  json('stats', 'stats', www),
  text('stats', '--refresh'),
  json('traffic-refresh', 'stats', '--refresh'),
  text('prefetch', '--task', '1'),
  json('prefetch', 'prefetch', '--task', '1'),
  text('rollout', 'list'),
  json('rollouts', 'rollout', 'list'),
  ...['approve', 'pause', 'resume', 'abort'].flatMap((verb) => [
    text('rollout', verb, 'one'),
    json('rollout-decision', 'rollout', verb, 'one'),
  ]),
  ...['stop', 'resume'].flatMap((verb) => [
    text('rollout', verb, '--all'),
    json('stop-decision', 'rollout', verb, '--all'),
  ]),
  text('rollback', '--yes', '--verbose'),
  json('apply-event', 'rollback', '--yes'),
  text('import', 'none.json'),
  json('import', 'import', 'none.json'),
  text('fmt', '--check'),
  json('fmt', 'fmt', '--check'),
  alone('fmt', '--schema'),
  alone('explain', 'visit_timestamp'),
  alone('explain', 'visit_timestamp', '--json'),
  alone('explain', 'policy'),
  alone('explain', 'policy', '--json'),
  alone('complete', '--', 'show', ''),
  text('state', 'verify'),
  json('verify', 'state', 'verify'),
  text('state', 'unlock'),
  text('state', 'unlock', '--json'),
  text('state', 'prune', '--keep', '0d', '--yes'),
  json('prune', 'state', 'prune', '--keep', '0d', '--yes'),
  text('state', 'migrate', '--to', 'dir:moved', '--yes'),
  json('migrate', 'state', 'migrate', '--to', 'dir:moved', '--yes'),
  text('state', 'forget', www, '--yes'),
  json('forget', 'state', 'forget', www, '--yes'),
  text('state', 'move', www, '--to', 'other', '--yes'),
  json('move', 'state', 'move', www, '--to', 'other', '--yes'),
]
