// @module-tag often
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import { buildExtension, packExtension } from '../../tools/vsix.ts'

let built: Awaited<ReturnType<typeof buildExtension>>
beforeAll(async () => {
  built = await buildExtension()
})

/** Unpacks an archive by its directory, as programs that install extensions do. */
function unzip(bytes: Buffer): Map<string, string> {
  const end = bytes.lastIndexOf('PK\u0005\u0006', undefined, 'latin1')
  const files = new Map<string, string>()
  let at = bytes.readUInt32LE(end + 16)
  for (let i = 0; i < bytes.readUInt16LE(end + 10); i++) {
    const [packed, length] = [bytes.readUInt32LE(at + 20), bytes.readUInt16LE(at + 28)]
    const local = bytes.readUInt32LE(at + 42)
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28)
    const name = bytes.toString('utf8', at + 46, at + 46 + length)
    expect(bytes.toString('utf8', local + 30, local + 30 + length)).toBe(name)
    files.set(name, inflateRawSync(bytes.subarray(start, start + packed)).toString('utf8'))
    at += 46 + length
  }
  expect(at).toBe(end)
  return files
}

/** Stands for the editor: everything that the client asks for exists, and does nothing. */
const editor = `
const Module = require('node:module')
const make = () => new Proxy(function () {}, {
  get: (own, key) => (key === 'prototype' || key === 'version' ? own[key]
    : key === Symbol.toPrimitive ? () => 1 : key === 'then' ? undefined : (own[key] ??= make())),
  apply: () => make(),
  construct: () => make(),
})
const vscode = make()
vscode.version = '1.91.0'
vscode.workspace.getConfiguration = () => ({
  get: () => process.argv[3],
})
vscode.workspace.workspaceFolders = undefined
const load = Module._load
Module._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest))
require(process.argv[2]).activate({ subscriptions: [] }).catch(() => undefined)
`

describe('the extension for Visual Studio Code', () => {
  it('has the expected files, small and with allowed licences', () => {
    expect(built.problems).toEqual([])
    expect([...built.files.keys()]).toEqual([
      '[Content_Types].xml',
      'extension.vsixmanifest',
      'extension/package.json',
      'extension/README.md',
      'extension/LICENSE.txt',
      'extension/THIRD-PARTY-LICENSES.txt',
      'extension/extension.js',
    ])
    const { bytes, problems } = packExtension(built.files)
    expect(problems).toEqual([])
    expect(unzip(bytes)).toEqual(built.files)
    expect(packExtension(built.files).bytes.equals(bytes)).toBe(true)
  })

  it('starts nothing in a workspace without trust, and no program that a workspace names', () => {
    const manifest = JSON.parse(built.files.get('extension/package.json') ?? '') as JsonObject
    expect(manifest['capabilities']).toMatchObject({
      untrustedWorkspaces: { supported: false, description: expect.any(String) as unknown },
      virtualWorkspaces: false,
    })
    const contributed = manifest['contributes'] as JsonObject
    expect(Object.keys(contributed).toSorted()).toEqual(['commands', 'configuration'])
    const { properties } = contributed['configuration'] as { properties: JsonObject }
    // A setting of the machine is taken neither from .vscode/settings.json nor from a folder.
    const scopes = Object.values(properties).map((each) => (each as JsonObject)['scope'])
    expect([Object.keys(properties), scopes]).toEqual([['edgewise.program'], ['machine']])
  })

  it('starts the language server of the settings', () => {
    const folder = mkdtempSync(join(tmpdir(), 'edgewise-'))
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
    write('extension.js', built.files.get('extension/extension.js') ?? '')
    write('editor.cjs', editor)
    write(
      'program',
      `#!/bin/sh\necho "$@" $NoDefaultCurrentDirectoryInExePath > ${join(folder, 'started')}\n`,
    )
    chmodSync(join(folder, 'program'), 0o755)
    const paths = ['editor.cjs', 'extension.js', 'program'].map((name) => join(folder, name))
    // The program ends at once, which this editor can't show.
    spawnSync(process.execPath, paths, { timeout: 20_000 })
    expect(readFileSync(join(folder, 'started'), 'utf8')).toBe('lsp --stdio 1\n')
    rmSync(folder, { recursive: true })
  })
})
