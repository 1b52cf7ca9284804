import { builtinModules } from 'node:module'
import type { OnLoadResult, Plugin } from 'esbuild'

/** Modules of Node that a bare Node has loaded, or that most commands need. */
const early = ['buffer', 'events', 'fs', 'fs/promises', 'path', 'process', 'timers', 'url']

/** Constructors of the other modules that are only called, not extended or compared with. */
const constructors = [
  'AsyncLocalStorage',
  'BlockList',
  'MessageChannel',
  'Script',
  'Worker',
  'Writable',
  'X509Certificate',
]

/** The entries of threads, which use values of the other modules. */
const thread = /\/src\/(?:operations\/runtime\/worker|server\/leader\/pulse-thread)\.ts$/

/**
 * Loads modules of Node without `import`, which reads each property of a module at the start, and
 * loads what their getters load. Most modules are loaded at the first call of their functions.
 */
export const loadBuiltins: Plugin = {
  name: 'load-builtins',
  setup: ({ onResolve, onLoad }) => {
    const filter = new RegExp(`^(?:node:)?(?:${builtinModules.join('|')})$`)
    onResolve({ filter }, ({ path, kind, importer, namespace }) => {
      const isOwn = /\/src\//.test(importer) && !importer.includes('/node_modules/')
      if (namespace !== 'file' || thread.test(importer)) return null
      const name = path.replace(/^node:/, '')
      if (kind === 'import-statement')
        return { path: name, namespace: isOwn ? 'builtin' : 'whole-builtin', sideEffects: false }
      const isRare = /\/node_modules\/commander\//.test(importer) && name === 'child_process'
      return isRare ? { path: name, namespace: 'builtin' } : null
    })
    onLoad({ filter, namespace: 'builtin' }, ({ path }) => describeExports(path))
    onLoad({ filter, namespace: 'whole-builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}')`,
    }))
  },
}

/** Writes a module with the exports of a module of Node; the bundler drops those unused. */
function describeExports(path: string): OnLoadResult {
  const builtin = (process.getBuiltinModule(path) ?? {}) as Record<string, unknown>
  const exports = Object.keys(builtin).flatMap((name) => {
    if (early.includes(path)) return `export const ${name} = /* @__PURE__ */ getValue('${name}')`
    if (typeof builtin[name] !== 'function') return []
    if (!/^[A-Z]/.test(name))
      return `export const ${name} = (...args) => loadBuiltin().${name}(...args)`
    if (!constructors.includes(name)) return []
    return `export function ${name}(...args) { return new (loadBuiltin().${name})(...args) }`
  })
  const load = `const loadBuiltin = () => process.getBuiltinModule('${path}')`
  return {
    contents: [load, 'const getValue = (name) => loadBuiltin()[name]', ...exports].join('\n'),
  }
}
