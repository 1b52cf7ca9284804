import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Remote } from '../remotes.ts'
import type { GitSandbox } from '../state/git-sandbox.ts'
import { Canaries } from '../steps/canary.ts'

/**
 * Finds neither password nor key in output, files, and objects of repositories.
 *
 * @param ownFiles files and folders of the user that have them
 */
export async function expectHidden(
  sandbox: GitSandbox,
  { secrets }: Remote,
  output: string,
  ownFiles = ['user'],
): Promise<void> {
  const canaries = new Canaries(Object.fromEntries(secrets.map((secret, i) => [`${i}`, secret])))
  canaries.scanText('the output', output)
  canaries.scanTree(sandbox.folder, ownFiles)
  const others = ['user', '.cache']
  for (const name of readdirSync(sandbox.folder))
    if (!others.includes(name)) await canaries.scanObjects(join(sandbox.folder, name), sandbox.env)
  expect(canaries.found).toEqual([])
}
