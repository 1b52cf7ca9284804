import { formatSheetYaml } from '../../outlets/report/domain/yaml.ts'
import type { Renderers } from './subjects.ts'

/** Renders the configuration of a domain as a manifest. */
export const renderers = {
  show: async ({ sheet }) => formatSheetYaml(sheet),
} satisfies Renderers
