import type { SmartCompression } from '../generated/items.ts'
import { isObject } from '../../model/json.ts'
import type { Problem } from '../../model/problem.ts'
import { castPlain, type ItemRow } from '../item-spec.ts'
import { warn, describeMissingField } from '../problems.ts'

const fields = [
  'compression_rate',
  'compression_value',
  'compression_unit',
  'content_type',
] as const

/** Compression by gzip, brotli or both (specification, "smart_compression"). */
export const smartCompression: ItemRow = {
  check: (value) => {
    const compression = castPlain<SmartCompression>(value)
    return (['gzip', 'brotli'] as const).flatMap((algorithm) =>
      checkAlgorithm(compression, algorithm),
    )
  },
  /** Both orders of the pair mean the same. */
  tidy: (value) =>
    isObject(value) && value['compression_mode'] === 'brotli&gzip'
      ? { ...value, compression_mode: 'gzip&brotli' }
      : value,
}

function checkAlgorithm(compression: SmartCompression, algorithm: 'gzip' | 'brotli'): Problem[] {
  const mode = compression.compression_mode
  const used = mode.split('&').includes(algorithm)
  return fields.flatMap((suffix) => {
    const field = `${algorithm}_${suffix}` as const
    if (used && compression[field] === undefined) {
      return [
        describeMissingField(
          '',
          `with compression_mode "${mode}" the field "${field}" is required`,
        ),
      ]
    }
    if (!used && compression[field] !== undefined) {
      return [
        warn(`/${field}`, `with compression_mode "${mode}" the field "${field}" has no effect`),
      ]
    }
    return []
  })
}
