import { createHash } from 'node:crypto'
import { identify, type BundledPackage } from './bundled-packages.ts'

/** The program that the bill is for. */
export interface Program {
  name: string
  version: string
  licence: string
  /** Names with versions of the packages that its own code imports. */
  imports: string[]
}

/**
 * Builds the bill of materials as CycloneDX 1.6 JSON. It has the packages whose code is shipped,
 * not those that are installed beside it. Equal packages give equal text: the serial
 * number is derived from the content, and there is no time.
 */
export function buildBillOfMaterials(program: Program, used: BundledPackage[]): string {
  const packages = used.filter(({ isBundled }) => isBundled)
  const purls = new Map(packages.map((each) => [identify(each), formatPurl(each)]))
  const listRefs = (imports: string[]) => imports.flatMap((name) => purls.get(name) ?? [])
  const content = {
    metadata: {
      component: {
        type: 'application',
        'bom-ref': formatPurl(program),
        name: program.name,
        version: program.version,
        licenses: formatLicences(program.licence),
        purl: formatPurl(program),
      },
    },
    components: packages.map(buildComponent),
    dependencies: [
      { ref: formatPurl(program), dependsOn: listRefs(program.imports) },
      ...packages.map((each) => ({ ref: formatPurl(each), dependsOn: listRefs(each.imports) })),
    ],
  }
  const hash = createHash('sha256').update(JSON.stringify(content)).digest('hex')
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${formatUuid(hash)}`,
    version: 1,
    ...content,
  }
  return `${JSON.stringify(bill, null, 2)}\n`
}

function buildComponent({ name, version, licence, integrity }: BundledPackage): object {
  const [, group, base = name] = /^(@[^/]+)\/(.+)$/.exec(name) ?? []
  const digest = /^sha512-(\S+)$/.exec(integrity ?? '')?.[1]
  return {
    type: 'library',
    'bom-ref': formatPurl({ name, version }),
    ...(group === undefined ? {} : { group }),
    name: base,
    version,
    scope: 'required',
    ...(digest === undefined
      ? {}
      : { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }),
    licenses: formatLicences(licence),
    purl: formatPurl({ name, version }),
  }
}

function formatLicences(licence: string): object[] {
  return / |\(/.test(licence) ? [{ expression: licence }] : [{ license: { id: licence } }]
}

function formatPurl({ name, version }: { name: string; version: string }): string {
  return `pkg:npm/${name.replace('@', '%40')}@${encodeURIComponent(version)}`
}

/** Formats the first half of a hash as a UUID of version 8: content of its own. */
function formatUuid(hash: string): string {
  const digits = `${hash.slice(0, 12)}8${hash.slice(13, 16)}8${hash.slice(17, 32)}`
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
