import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { toLabels } from '../../src/outlets/metrics/items.ts'
import { createServerMetrics } from '../../src/outlets/metrics/server-metrics.ts'
import type { ErrorCode } from '../../src/core/model/edgewise-error.ts'
import type { Verdict } from '../../src/core/model/health.ts'
import type { ListedState } from '../../src/core/model/listed-rollout.ts'
import type { Controller } from '../../src/server/controller.ts'
import { createHttpServer } from '../../src/server/http/http-server.ts'
import type { LimitedServer } from '../../src/server/http/limited-server.ts'
import { createLogger } from '../../src/server/logger.ts'
import { findProgram } from '../program.ts'
import { createOpenRights } from './http-stage.ts'
import { createPages } from './page-stage.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, 'examples/serve')
const load = (path: string) => readFileSync(join(folder, path), 'utf8')
const unused = () => Promise.reject(new Error('not expected'))
const metrics = createServerMetrics({ workspace: 'w', account: 'a' })
metrics.addProcess()

interface Rule {
  alert: string
  expr: string
  labels: Record<string, string>
  annotations: Record<string, string>
}
interface Container {
  command: string[]
  ports: { name: string; containerPort: number }[]
  envFrom: { secretRef: { name: string } }[]
  volumeMounts: { name: string; mountPath: string }[]
  securityContext: unknown
  [probe: string]: unknown
}
interface Compose {
  services: Record<string, Record<string, unknown> & { command?: string[] }>
}

const rules = (parse(load('alerts.yaml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
)
const panels = (JSON.parse(load('dashboard.json')) as { panels: { targets: { expr: string }[] }[] })
  .panels
const queries = [
  ...rules.map(({ expr }) => expr),
  ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
]
const compose = parse(load('compose.yaml'), { merge: true }) as Compose
const kubernetes = readdirSync(join(folder, 'kubernetes')).map(
  (file) => parse(load(join('kubernetes', file))) as Record<string, unknown>,
)
const findKind = (kind: string) => {
  const found = kubernetes.find((each) => each['kind'] === kind)
  if (found === undefined) throw new Error(`no ${kind}`)
  return found
}
const pod = (findKind('Deployment') as { spec: { template: { spec: PodSpec } } }).spec.template.spec
interface PodSpec {
  containers: [Container]
  securityContext: unknown
  terminationGracePeriodSeconds: number
  volumes: { name: string; emptyDir?: unknown }[]
}
const container = pod.containers[0]
const help = execFileSync(process.execPath, [...findProgram(), 'serve', '--help'], {
  encoding: 'utf8',
  env: { PATH: process.env['PATH'] },
})

it('all files of the example are valid YAML or JSON', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const yaml = files.filter((file) => file.endsWith('.yaml') && !file.startsWith('repository'))
  expect(yaml.length).toBeGreaterThan(8)
  for (const file of yaml)
    for (const document of parseAllDocuments(load(file), { merge: true }))
      expect(document.errors, file).toEqual([])
})

describe('queries', () => {
  it('use metrics that exist', async () => {
    const { text } = await metrics.format('prometheus')
    const names = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name],
    )
    const used = queries.flatMap((query) => query.match(/\b(?:edgewise|process|nodejs)_\w+/g) ?? [])
    expect(new Set(used).size).toBeGreaterThan(20)
    expect(used.filter((name) => !names.includes(name))).toEqual([])
  })

  it('select values of labels that exist', () => {
    const states: ListedState[] = ['waiting-for-approval', 'paused']
    const verdicts: Verdict[] = ['worse']
    const codes: (ErrorCode | 'defect')[] = [
      'record-unreachable',
      'record-damaged',
      'state-rewound',
      'defect',
    ]
    const known: Record<string, string[]> = {
      state: states,
      code: codes,
      outcome: Object.keys(toLabels({ confirmed: 0, refused: 0, inDoubt: 0, notSent: 0 })),
      status: ['confirmed', 'in-doubt', 'unset'],
      kind: ['pending', 'live'],
      verdict: verdicts,
      workspace: ['$workspace'],
    }
    const selected = queries.flatMap((query) => [...query.matchAll(/(\w+)=~?"([^"]+)"/g)])
    expect(selected.length).toBeGreaterThan(0)
    for (const [text, label = '', values = ''] of selected)
      for (const value of values.split('|')) expect(known[label], text).toContain(value)
  })

  it('each alert has a severity, a summary, a runbook and a unit test', () => {
    const { tests } = parse(load('alerts.test.yaml')) as { tests: { name: string }[] }
    const tested = new Set(tests.map(({ name }) => name.split(':')[0]))
    expect(tested).toEqual(new Set(rules.map(({ alert }) => alert)))
    for (const { labels, annotations } of rules) {
      expect(['critical', 'warning', 'info']).toContain(labels['severity'])
      expect(Object.keys(annotations)).toEqual(['summary', 'runbook'])
    }
  })

  const hasPromtool = (process.env['PATH'] ?? '')
    .split(delimiter)
    .some((path) => existsSync(join(path, 'promtool')))
  it.skipIf(!hasPromtool)('pass promtool (skipped if it is not on PATH)', () => {
    execFileSync('promtool', ['check', 'rules', 'alerts.yaml'], { cwd: folder })
    execFileSync('promtool', ['test', 'rules', 'alerts.test.yaml'], { cwd: folder })
  })
})

describe('containers', () => {
  let http: LimitedServer
  let url = ''
  beforeAll(async () => {
    const clock = { now: () => 0, monotonic: () => 0, sleep: unused }
    const logger = createLogger({ clock, out: () => undefined, format: 'json', level: 'error' })
    const controller: Controller = {
      ...createOpenRights(logger, metrics),
      metrics,
      status: unused,
      plan: unused,
      listRollouts: unused,
      decide: unused,
      findStop: unused,
      decideAll: unused,
      pages: createPages(),
      poke: () => undefined,
      isHealthy: () => null,
      findUnready: () => Promise.resolve(null),
    }
    const closed = { webhookSecret: undefined, token: undefined }
    http = createHttpServer({ controller, clock, logger, newId: () => 'id', ...closed })
    url = `http://127.0.0.1:${await http.listen(0, '127.0.0.1')}`
  })
  afterAll(() => http.close())

  it('probe routes that exist, at the port of the server', async () => {
    const { command, ports } = container
    const findPort = (option: string) => Number(command[command.indexOf(option) + 1])
    expect(ports).toEqual([
      { name: 'http', containerPort: findPort('--port') },
      { name: 'health', containerPort: findPort('--health-port') },
    ])
    const expected = { startupProbe: '/healthz', livenessProbe: '/healthz' }
    for (const [name, path] of Object.entries({ ...expected, readinessProbe: '/readyz' })) {
      expect(container[name]).toMatchObject({ httpGet: { path, port: 'health' } })
      expect((await fetch(url + path)).status).toBe(200)
    }
    expect(JSON.stringify(compose.services['serve']?.['healthcheck'])).toContain(':8081/readyz')
    expect(compose.services['serve']?.command).not.toContain('--health-port')
    expect(load('prometheus.yaml')).toContain('port: 8081}')
    expect(findKind('Service')).toMatchObject({ spec: { ports: [{ targetPort: 'http' }] } })
  })

  it('start serve with options that it has, on all addresses', () => {
    const commands = [container.command.slice(1), compose.services['serve']?.command ?? []]
    for (const command of commands) {
      expect(command[0]).toBe('serve')
      expect(command[command.indexOf('--host') + 1]).toBe('0.0.0.0')
      const flags = command.filter((argument) => argument.startsWith('--'))
      expect(flags.length).toBeGreaterThan(3)
      for (const flag of flags) expect(help).toMatch(new RegExp(`^ +${flag} <`, 'm'))
    }
  })

  it('read a repository of any user, as any user but root', () => {
    const { volumes, user, command } = compose.services['serve'] ?? {}
    expect(user).toBe('${EDGEWISE_USER:-1000}')
    expect(volumes).toContain('./gitconfig:/etc/gitconfig:ro')
    const asked = ['config', '--file', join(folder, 'gitconfig'), '--get-all', 'safe.directory']
    const named = execFileSync('git', asked, { encoding: 'utf8' }).trim().split('\n')
    const repository = command?.[1] ?? ''
    expect(named).toEqual([repository, join(repository, '.git')])
  })

  it('set variables that are used', () => {
    const secret = findKind('Secret') as { metadata: { name: string }; stringData: object }
    expect(container.envFrom).toEqual([{ secretRef: { name: secret.metadata.name } }])
    const sets = [secret.stringData, compose.services['serve']?.['environment'] ?? {}]
    const schema = readFileSync(join(root, 'schemas/workspace.schema.json'), 'utf8')
    const variables = readFileSync(join(root, 'docs/reference/environment.md'), 'utf8')
    const known = help + schema + variables + load('workspace/edgewise.yaml')
    for (const set of sets) {
      expect(Object.keys(set)).toContain('EDGEWISE_SERVE_TOKEN')
      for (const name of Object.keys(set)) expect(known).toMatch(new RegExp(`\\b${name}\\b`))
    }
  })

  it('run without rights on Kubernetes', () => {
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(pod).toMatchObject({ automountServiceAccountToken: false })
    expect(findKind('Deployment')).toMatchObject({ spec: { replicas: 2 } })
    // A volume for each folder that is written, and the clone below a mount point, not at it.
    const paths = container.volumeMounts.map(({ mountPath }) => mountPath)
    const data = container.command[container.command.indexOf('--data') + 1]
    expect(paths.some((path) => data?.startsWith(`${path}/`))).toBe(true)
    expect(new Set(container.volumeMounts.map(({ name }) => name))).toEqual(
      new Set(pod.volumes.map(({ name }) => name)),
    )
  })

  it('may take longer to stop than a call may take', () => {
    const schema = JSON.parse(
      readFileSync(join(root, 'schemas/workspace.schema.json'), 'utf8'),
    ) as {
      properties: { service: { properties: { timeoutSeconds: { maximum: number } } } }
    }
    const { maximum } = schema.properties.service.properties.timeoutSeconds
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(maximum)
    expect(compose.services['serve']?.['stop_grace_period']).toBe('2m')
  })

  it('can write to no file system of an image in Compose', () => {
    expect(Object.keys(compose.services)).toEqual(['database', 'emulator', 'serve', 'prometheus'])
    for (const service of Object.values(compose.services))
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
    expect(compose.services['serve']).toMatchObject({ deploy: { replicas: 2 } })
  })
})
