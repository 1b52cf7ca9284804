import picomatch from 'picomatch'

/** Replaces the class of `minimatch`, for globs that a server may register; this one has none. */
export class Minimatch {
  readonly match: (path: string) => boolean

  constructor(glob: string) {
    this.match = picomatch(glob)
  }
}
