import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { type Json, parseJson } from '../../src/core/model/json.ts'
import { canonicalizeJson } from '../../src/core/model/text/canonical-json.ts'
import { apply } from '../../src/operations/apply.ts'
import { drift } from '../../src/operations/drift.ts'
import { loadDomainHistory, loadHistory } from '../../src/operations/history/past-applies.ts'
import { importConfig } from '../../src/operations/import.ts'
import { plan } from '../../src/operations/plan.ts'
import { rollback } from '../../src/operations/rollback.ts'
import { show } from '../../src/operations/show.ts'
import { formatDomainHistory } from '../../src/outlets/report/apply/history-text.ts'
import { formatDiagnosticsJson } from '../../src/outlets/report/diagnostics/json.ts'
import { buildDriftJson } from '../../src/outlets/report/drift/json.ts'
import { formatDrift } from '../../src/outlets/report/drift/text.ts'
import { buildPlanJson } from '../../src/outlets/report/plan/json.ts'
import { formatPlanMarkdown } from '../../src/outlets/report/plan/markdown.ts'
import { formatPlan } from '../../src/outlets/report/plan/text.ts'
import { plainPaint } from '../../src/outlets/report/text/paint.ts'
import { type PlainAnswer, buildWriteAnswer, parsePlainAnswer, toAnswer } from './answers.ts'
import { type FuzzWorld, sources } from './fuzz-world.ts'
import { buildSampleAnswer, query, recordInterrupted, recordQueries } from './record.ts'

/** Input of one kind: valid texts, and the operations that take a mutated one. */
export interface Kind {
  name: string
  /** Valid texts. */
  texts: string[]
  /**
   * Runs the operations; `index` is that of the text that was mutated.
   *
   * @throws EdgewiseError if the text is refused; anything else is a defect
   */
  run(text: string, index: number): Promise<void>
}

const options = { paint: plainPaint, columns: 80, verbose: true }
/** Builds all kinds in a world. */
export async function buildKinds(world: FuzzWorld): Promise<Kind[]> {
  const answers = await recordQueries(world)
  const play = (request: { url: string; body?: string }): PlainAnswer =>
    request.body === undefined
      ? (answers.get(new URL(request.url).pathname) ?? { status: 404, headers: {}, body: '' })
      : buildWriteAnswer(request.body)
  const honest = async (request: { url: string; body?: string }) => toAnswer(play(request))
  world.transport = honest
  const empty = new Map<string, string>()
  const interrupted = await recordInterrupted(world, honest)
  const settled = new Map(world.files)

  const restore = () => {
    for (const [path, text] of sources) world.write(path, text)
    world.transport = honest
  }
  const report = async () => {
    const workspace = world.load()
    formatDiagnosticsJson(workspace.diagnostics)
    for (const each of workspace.diagnostics)
      if (each.column > (workspace.findSourceLine(each)?.length ?? 0) + 1)
        throw new TypeError(`a problem has no place: ${each.detail}`)
    const errors = workspace.diagnostics.filter(({ severity }) => severity === 'error')
    if (errors.length > 0) throw new EdgewiseError('invalid', 'the manifests have errors')
    const planned = await plan(workspace, {}, world.ports())
    buildPlanJson(planned.plan, (item) => item)
    formatPlan(planned.plan, options)
    formatPlanMarkdown(planned.plan)
    return workspace
  }
  const showDrift = async (observed: Json) => {
    const found = await drift(world.load(), { observe: async () => observed }, world.outside())
    buildDriftJson(found.drift)
    formatDrift(found.drift, Date.UTC(2026, 10, 21), options)
  }

  world.reset(empty)
  const made = await plan(world.load(), {}, world.ports())
  const planText = JSON.stringify(buildPlanJson(made.plan, (item) => world.wireName(item)))
  const statePaths = [...interrupted.keys()]
  const observedText = JSON.stringify({
    'a.example.com': { timeout: { time: '30' }, https: { cert_id: '1001', http2: 'on' } },
    'b.example.com': { ip_black_list: { list: ['192.0.2.0/24'] }, timeout: [] },
  })

  const kinds: Kind[] = [
    ...[...sources.keys()].map((path) => ({
      name: `source ${path}`,
      texts: [sources.get(path) ?? ''],
      run: async (text: string) => {
        world.reset(settled)
        world.write(path, text)
        await report()
        await apply(world.load(), {}, world.ports())
      },
    })),
    {
      name: 'plan file',
      texts: [planText],
      run: async (text) => {
        world.reset(empty)
        await apply(world.load(), { planFile: text }, world.ports())
        refuseOther(planText, text)
      },
    },
    {
      name: 'state file',
      texts: statePaths.map((path) => interrupted.get(path) ?? ''),
      run: async (text, index) => {
        world.reset(interrupted)
        world.files.set(statePaths[index] ?? '', text)
        const outcomes = [
          await settle(async () => void (await report())),
          await settle(() => showDrift(parseJson(observedText) ?? null)),
          await settle(async () => void (await loadHistory(world.load(), world.outside()))),
          await settle(async () => {
            const past = await loadDomainHistory(world.load(), 'a.example.com', world.outside())
            formatDomainHistory(past.domain, past.applies, {
              paint: plainPaint,
              columns: 80,
              verbose: false,
            })
          }),
          await settle(async () => {
            await show(world.load(), 'a.example.com', {}, world.outside())
          }),
          await settle(async () => void (await apply(world.load(), {}, world.ports()))),
          await settle(async () => void (await rollback(world.load(), {}, world.ports()))),
        ]
        const refused = outcomes.find((each) => each !== null)
        if (refused !== undefined && refused !== null) throw refused
      },
    },
    {
      name: 'answer to a write',
      texts: [JSON.stringify(buildSampleAnswer())],
      run: async (text) => {
        world.reset(empty)
        world.transport = async () => toAnswer(parsePlainAnswer(text))
        const first = await settle(async () => void (await apply(world.load(), {}, world.ports())))
        // What was recorded of it is valid state, and an honest service settles it.
        world.transport = honest
        await report()
        await apply(world.load(), { waves: false }, world.ports())
        if (first !== null) throw first
      },
    },
    ...['/v2/stat/httpcode/eachDomain', '/v2/stat/httpcode', '/v2/cache/prefetch'].map((path) => ({
      name: `answer to ${path}`,
      texts: [JSON.stringify(answers.get(path))],
      run: async (text: string) => {
        world.reset(empty)
        world.transport = async () => toAnswer(parsePlainAnswer(text))
        await query(world, path)
      },
    })),
    {
      name: 'observed configuration',
      texts: [observedText],
      run: async (text) => {
        world.reset(settled)
        const data = parseJson(text)
        if (data === undefined) throw new EdgewiseError('not-observed', 'expected JSON')
        await showDrift(data)
      },
    },
    {
      name: 'import file',
      texts: [
        observedText,
        JSON.stringify({ code: 0, data: [{ domain: 'a.example.com', config: {} }] }),
      ],
      run: async (text) => {
        world.reset(settled)
        const request = { sources: [{ name: 'file', text }], replace: true }
        await importConfig(world.load(), request, world.ports())
        await report()
      },
    },
    {
      name: 'environment',
      texts: [JSON.stringify(world.env)],
      run: async (text) => {
        world.reset(settled)
        const env = world.env
        const data = parseJson(text)
        const given = typeof data === 'object' && data !== null ? Object.entries(data) : []
        world.env = Object.fromEntries(
          given.map(([name, value]) => [name, typeof value === 'string' ? value : '']),
        )
        try {
          await report()
          await apply(world.load(), {}, world.ports())
        } finally {
          world.env = env
        }
      },
    },
    {
      name: 'library request',
      texts: [
        JSON.stringify({
          target: ['a.example.com'],
          items: ['timeout'],
          allow: ['https'],
          waves: true,
        }),
      ],
      run: async (text) => {
        world.reset(settled)
        const data = parseJson(text)
        if (typeof data !== 'object' || data === null || Array.isArray(data)) return
        const list = (value: Json | undefined) =>
          Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
        const [target, items] = [list(data['target']), list(data['items'])]
        const allow = list(data['allow'])
        await plan(world.load(), { target, items }, world.ports())
        await apply(world.load(), { target, items, allow }, world.ports())
        for (const domain of target)
          await show(world.load(), domain, { at: items[0] }, world.outside())
      },
    },
  ]
  return kinds.map((kind) => ({
    ...kind,
    run: async (text, index) => {
      try {
        await kind.run(text, index)
      } finally {
        restore()
      }
    },
  }))
}

/** Returns the refusal of some work, or null. */
async function settle(work: () => Promise<void>): Promise<EdgewiseError | null> {
  try {
    await work()
    return null
  } catch (error) {
    if (error instanceof EdgewiseError) return error
    throw error
  }
}

/** Throws if an accepted plan file has other changes or writes than the valid one. */
function refuseOther(valid: string, text: string): void {
  const pick = (file: string) => {
    const { changes, writes } = JSON.parse(file) as { changes: Json; writes: Json }
    return canonicalizeJson([changes, writes])
  }
  if (pick(valid) !== pick(text)) throw new TypeError('an altered plan file was accepted')
}
