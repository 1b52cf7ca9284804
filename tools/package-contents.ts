/** A file of the package. */
export interface PackedFile {
  path: string
  size: number
}

/** Maximum size of the unpacked package, in bytes. */
export const maxPackageBytes = 7_300_000

/** Patterns of the paths that the package has; nothing else belongs into it. */
const expected = [
  /^package\.json$/,
  /^(?:CHANGELOG|CONTRIBUTING|README|SECURITY)\.md$/,
  /^LICENSE$/,
  /^docs\/(?:[a-z-]+\/)*[A-Za-z_-]+\.(?:md|svg)$/,
  /^examples\/(?:[.\w-]+\/)*[.\w-]+\.(?:json|md|ya?ml)$/,
  /^examples\/(?:[.\w-]+\/)*(?:\.gitignore|gitconfig)$/,
  /^schemas\/(?:[a-z]+\/)?[a-z_-]+\.schema\.json$/,
  /^dist\/(?:action\/main\.js|cli\/main\.js|cli\/package\.json|index\.js)$/,
  /^dist\/(?:runtime\/worker|leader\/pulse-thread)\.cjs$/,
  /^dist\/chunks\/(?:[a-z-]+(?:-[A-Z0-9]{8})?\.cjs|highs\.wasm\.br)$/,
  /^dist\/index\.d\.ts$/,
  /^dist\/(?:THIRD-PARTY-LICENSES\.txt|bom\.cdx\.json)$/,
]

/** Finds what is wrong with the files of the package: its size, and files that are not expected. */
export function findPackageProblems(files: PackedFile[]): string[] {
  const size = files.reduce((sum, file) => sum + file.size, 0)
  return [
    ...(size > maxPackageBytes
      ? [`the package has ${size} bytes, more than ${maxPackageBytes}`]
      : []),
    ...files
      .filter(({ path }) => !expected.some((pattern) => pattern.test(path)))
      .map(({ path }) => `${path} does not belong into the package`),
  ]
}
