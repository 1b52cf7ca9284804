import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { root } from '../../tools/bundle.ts'

it('the built library can be imported by a module', () => {
  const program = "import { open } from './dist/index.js'\nprocess.stdout.write(typeof open)"
  const found = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: root,
    encoding: 'utf8',
  })
  expect(found).toBe('function')
})
