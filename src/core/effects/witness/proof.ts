/**
 * Why no request can tell two configurations apart: all is the same; what differs is not read; only
 * rules without overlap changed places; what came or went never decides; equal languages.
 */
export type Proof = 'identical' | 'ineffective' | 'reordered' | 'covered' | 'automaton'

/** A proof; or what was in its way, and URLs on which rules decide differently. */
export type Proven = { proof: Proof } | { reasons: string[]; urls: string[] }
