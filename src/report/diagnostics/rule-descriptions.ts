import type { DiagnosticCode } from '../../model/problem.ts'

/** Rule of each diagnostic code, in a sentence. */
export const ruleDescriptions: Record<DiagnosticCode, string> = {
  'file-unreadable': 'A file of the workspace can be read.',
  'file-invalid':
    'A file of the workspace is UTF-8 text of a reasonable size, inside the workspace, with a ' +
    'name that its globs match.',
  'yaml-invalid': 'A file is well-formed YAML 1.2.',
  'workspace-invalid': 'The workspace file has the keys and values that are documented for it.',
  'manifest-invalid': 'A manifest has the keys and values that are documented for it.',
  'profile-invalid': 'A profile has the keys and values that are documented for it.',
  'profile-unknown': 'A profile that is named exists.',
  'profile-cycle': 'Profiles do not contain themselves.',
  'profile-duplicate': 'The name of a profile is given once.',
  'domain-invalid': 'The name of a domain is well-formed.',
  'domain-duplicate': 'A domain is declared in one place.',
  'item-unknown': 'An item of a configuration is one that the service has.',
  'item-invalid': "An item's value follows the service's specification.",
  'item-conflict': 'The items of a domain do not contradict each other.',
  'item-unnamed':
    'An item whose wire name the specification leaves out has one in the workspace file.',
  'unset-unavailable':
    'An item is unset only if the specification documents a reset, or with service.unset.',
  'reference-unknown': 'A variable or secret that is referred to is defined.',
  'secret-literal': 'A manifest contains a secret as a reference, not as its value.',
  'secret-invalid': 'A secret is referenced where a string is allowed, and is declared correctly.',
  'secret-weak': "A secret can't be guessed from its fingerprint in the state.",
  'secret-suspected': 'A header with a token or a key refers to a secret.',
  'token-literal': 'The workspace file refers to the token, and does not contain it.',
  'too-many-problems': 'A file has at most 200 problems; more are counted, not listed.',
}
