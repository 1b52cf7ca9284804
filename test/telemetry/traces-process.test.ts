// @module-tag often
// @module-tag nightly
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { setFaults, token } from '../steps/cli.ts'
import { emulator, place, setStage } from '../steps/stage.ts'
import { OtlpReceiver } from './otlp-receiver.ts'

setStage()
let receiver: OtlpReceiver
beforeEach(async () => {
  receiver = await OtlpReceiver.start()
  place.manifest('a.example.com', { timeout: { time: 60 } })
})
afterEach(() => receiver.close())

const root = new URL('../../', import.meta.url)

/** Runs the built program until it ends, with a signal once it has printed a text. */
async function run(
  args: string[],
  variables: Record<string, string>,
  { folder = fileURLToPath(root), signalAt = '' } = {},
): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [join(folder, 'dist/cli/main.js'), ...args], {
    cwd: place.root,
    env: { PATH: process.env['PATH'], EDGEWISE_TOKEN: token, NO_COLOR: '1', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (text) => (out += String(text)))
  child.stderr.on('data', (text) => {
    const isFirst = !err.includes(signalAt)
    err += String(text)
    if (isFirst && err.includes(signalAt)) child.kill('SIGTERM')
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, out, err: err.replaceAll(/\n(?!\w+: |$)/g, ' ') }
}

it('without the packages a command warns and works', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-alone-'))
  mkdirSync(join(folder, 'dist'))
  for (const path of ['dist', 'package.json', 'schemas'])
    cpSync(new URL(path, root), join(folder, path), { recursive: true })
  const OTEL_EXPORTER_OTLP_ENDPOINT = receiver.url
  const bare = await run(['plan', '--json'], {}, { folder })
  const traced = await run(['plan', '--json'], { OTEL_EXPORTER_OTLP_ENDPOINT }, { folder })
  expect(traced.out).toBe(bare.out)
  expect([bare.code, traced.code]).toEqual([0, 0])
  expect(bare.err).not.toContain('warning')
  expect(traced.err.match(/warning:.*/g)).toEqual([
    expect.stringMatching(
      /npm install @opentelemetry\/resources@2 .*exporter-trace-otlp-proto/,
    ) as string,
  ])
})

it('an endpoint that never ends its answer neither keeps a command nor changes it', async () => {
  receiver.behaviour = 'drip'
  await setFaults(emulator, { kind: 'refuse', domain: 'a.example.com' })
  const args = ['apply', '--yes', '--json']
  const { code, out, err } = await run(args, { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })
  expect(code).toBe(3)
  expect(receiver.requests).toHaveLength(1)
  expect(out.trimEnd().split('\n').at(-1)).toContain('apply.finished')
  expect(err).toMatch(/^warning: spans could not be exported .*no answer within 4 seconds\n$/m)
})

it('a dead endpoint is a warning', async () => {
  const endpoint = receiver.url
  receiver.close()
  const { code, err } = await run(['apply', '--yes'], { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })
  expect(code).toBe(0)
  expect(err.match(/warning:.*/g)).toEqual([
    expect.stringMatching(/spans could not be exported .*: (ECONNREFUSED|no answer)/) as string,
  ])
})

it('an interrupted apply sends its trace', async () => {
  await setFaults(emulator, { kind: 'error', status: 503 })
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }
  const args = ['apply', '--yes']
  const { code } = await run(args, variables, { signalAt: 'waiting ' })
  expect(code).toBe(143)
  const command = receiver.spans.find(({ name }) => name === 'edgewise apply')
  expect(command).toMatchObject({ isError: true, parentSpanId: '' })
})
