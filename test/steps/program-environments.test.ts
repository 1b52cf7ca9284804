import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createOwnProcesses } from '../../src/cli/own/own-process.ts'
import { ownVariables } from '../../src/manifest/workspace-file/credentials.ts'
import { programs } from '../../src/manifest/secrets/secret-sources.ts'
import { loadWorkspace } from '../../src/operations/runtime/load-workspace.ts'
import { createNodeOutside } from '../../src/operations/runtime/node-outside.ts'
import { buildDriftRequest } from '../../src/server/branch/workspaces.ts'
import { buildGitEnvironment } from '../../src/state/git/git-environment.ts'
import { place, setWorkspace } from './stage.ts'

setWorkspace()
const signal = new AbortController().signal

/** All variables with a credential, by what names them. */
const ofFile = {
  CDN_TOKEN: 'token-of-the-service-1',
  EDGEWISE_TOKEN: 'token-of-another-one-2',
  SIGNING_KEY: 'secret-of-manifests-3',
  DATABASE_URL: 'postgres://cdn:password-4@localhost/cdn',
  PGPASSWORD: 'password-5',
  HOOK: 'https://hooks.example.com/address-6',
  HOOK_KEY: 'key-of-receiver-7',
  CLIENT_SECRET: 'secret-of-client-8',
  HISTORY_KEY: '-----BEGIN PRIVATE KEY-----\nkey-of-history-9\n-----END PRIVATE KEY-----',
}
const ofServe = Object.fromEntries(ownVariables.map((name) => [name, `value-of-${name}`]))
/** A variable that has copies of credentials. */
const copies = {
  COPY: `${ofFile.SIGNING_KEY} ${Object.values(ofServe).join(' ')} ${ofFile.CLIENT_SECRET}`,
}
const env = { ...ofFile, ...ofServe, ...copies, PATH: process.env['PATH'], STAGE: 'prod' }

/** The credentials that each kind of program gets. */
const kinds: Record<string, { gets: string[]; find: () => Promise<string> | string }> = {
  secret: { gets: [], find: () => printSecret() },
  observed: { gets: ['CDN_TOKEN'], find: () => printObserved() },
  'observed by serve': { gets: ['CDN_TOKEN'], find: () => printObservedByServe() },
  git: { gets: [], find: () => JSON.stringify(buildGitEnvironment(env, ofFile.CDN_TOKEN)) },
  // It loads the same workspace as this process.
  'this program': { gets: Object.keys(ofFile), find: () => printOwn() },
}

/** Prints the variables as the configuration of a domain. */
const printer = `node -p 'JSON.stringify({"a.example.com":process.env})'`

const file =
  'service: {url: emulator, token: "${env:CDN_TOKEN}"}\n' +
  'secrets: {signing: {env: SIGNING_KEY}, other: {command: [node, write.cjs]}}\n' +
  'state: {store: postgres, url: "${env:DATABASE_URL}"}\n' +
  'notify: [{kind: webhook, url: "${env:HOOK}", secret: "${env:HOOK_KEY}", on: [drift]}]\n' +
  'sign: {key: {env: HISTORY_KEY}}\n' +
  'serve: {drift: {observed: PRINTER}, auth: {issuer: ' +
  '"https://login.example.com", clientId: cdn, clientSecret: "${env:CLIENT_SECRET}"}}\n'

function load() {
  place.write('edgewise.yaml', `version: 1\n${file.replace('PRINTER', JSON.stringify(printer))}`)
  return loadWorkspace(place.root, { ...createNodeOutside(signal), env }, 'available')
}

async function printSecret(): Promise<string> {
  place.write(
    'write.cjs',
    "require('fs').writeFileSync('env.json', JSON.stringify(process.env)); console.log('value')",
  )
  const { vault } = load()
  await vault.obtain(['other'], signal)
  return place.read('env.json')
}

async function printObserved(): Promise<string> {
  const { buildObserve } = await import('../../src/cli/observe.ts')
  const io = { env, signal, cwd: place.root }
  const context = { io } as unknown as Parameters<typeof buildObserve>[0]
  const { observe } = await buildObserve(context, load(), { observed: printer })
  return JSON.stringify(await observe?.(new Map()))
}

const printObservedByServe = async () =>
  JSON.stringify(await buildDriftRequest(load(), { env, signal }).observe?.(new Map()))

async function printOwn(): Promise<string> {
  const code = 'console.log(JSON.stringify({ format: "edgewise.error/1", ...process.env }))'
  const run = createOwnProcesses(() => null, undefined, ['-e', code, '--'])
  return (await run([], { env, signal })).out
}

for (const [kind, { gets, find }] of Object.entries(kinds))
  it(`${kind} gets the credentials that it needs, and no other`, async () => {
    const text = await find()
    const all = { ...ofFile, ...ofServe }
    const found = Object.keys(all).filter((name) => text.includes(`"${name}"`))
    expect(found).toEqual(gets)
    if (kind === 'this program') return
    for (const [name, value] of Object.entries(all))
      expect([name, text.includes(value)]).toEqual([name, gets.includes(name)])
    expect(text.includes('"STAGE"')).toBe(kind !== 'git')
  })

it('no other program is started', () => {
  expect(Object.keys(programs).filter((kind) => !(kind in kinds))).toEqual([])
  const root = join(import.meta.dirname, '../../src')
  const starting = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (path) =>
      path.endsWith('.ts') &&
      !path.includes('generated') &&
      /\bfrom 'node:child_process'/.test(readFileSync(join(root, path), 'utf8')),
  )
  expect(starting.toSorted()).toEqual([
    // Starts this program in a bundle of its own, with the inputs of the action withheld.
    'cli/action/run-program.ts',
    'cli/own/own-process.ts',
    'manifest/secrets/run-command.ts',
    'operations/observation/observe.ts',
    // Runs with an empty environment.
    'state/folder/sync-file-system.ts',
    'state/git/detached-git.ts',
    'state/git/open-place.ts',
  ])
})
