import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadBounded } from '../../src/files/load-bounded.ts'
import { loadSource } from '../../src/manifest/load-source.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import { createFolder } from './test-workspace.ts'

/** Texts on both sides of the size of the shared buffer, the shorter after the longer. */
const texts = [16_384, 16_383, 16_382, 100_000, 3, 0, 1].map((length, i) =>
  String.fromCodePoint(97 + i).repeat(length),
)

const files = Object.fromEntries(texts.map((text, i) => [`${i}.yaml`, text]))

describe('files that are loaded one after another', () => {
  it('have no bytes of others, whatever their sizes', async () => {
    const folder = createFolder(files)
    for (const [i, text] of texts.entries())
      expect(loadSource(folder, `${i}.yaml`)).toEqual({ path: `${i}.yaml`, text })
    const read = await Promise.all(texts.map((_, i) => realDisk.read(join(folder, `${i}.yaml`))))
    expect(read).toEqual(texts)
  })

  it('keep their bytes without a shared buffer', () => {
    const folder = createFolder(files)
    const loaded = texts.map((_, i) => loadBounded(join(folder, `${i}.yaml`), 1_000_000))
    expect(loaded.map(String)).toEqual(texts)
  })
})
