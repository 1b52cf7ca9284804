import type { CodeDescription } from '../../model/error-descriptions.ts'
import type { DiagnosticCode } from '../../model/problem.ts'

/** What each diagnostic code means. The detail of a diagnostic has the values and the next step. */
export const diagnosticDescriptions: Record<DiagnosticCode, CodeDescription> = {
  'file-unreadable': {
    happened: 'A file of the workspace can not be read.',
    remedy: 'Correct its permissions, or restore it.',
  },
  'file-invalid': {
    happened:
      'A file is empty, too large, not UTF-8 text, outside of the workspace, or not loaded ' +
      'because no glob matches its name.',
    remedy:
      'Restore its content, rename or move it, or add a glob under `manifests` or `profiles`.',
  },
  'yaml-invalid': {
    happened: 'A file is not well-formed YAML 1.2, or exceeds a limit of manifests.',
    remedy: 'Correct the text at the position.',
  },
  'workspace-invalid': {
    happened:
      '`edgewise.yaml` has an unknown key or a wrong value, or there is no manifest. A warning: ' +
      'a glob of `guards.protect` or `rollout.first` matches no domain.',
    remedy: 'Compare it with the reference of the workspace file; correct the globs.',
  },
  'manifest-invalid': {
    happened: 'A manifest has an unknown key or a wrong value.',
    remedy: 'Compare it with the reference of manifests.',
  },
  'profile-invalid': {
    happened: 'A profile has an unknown key or a wrong value.',
    remedy: 'Compare it with the reference of manifests and profiles.',
  },
  'profile-unknown': {
    happened: 'A manifest or a profile names a profile that does not exist.',
    remedy: 'Correct the name, or the globs under `profiles`.',
  },
  'profile-cycle': {
    happened: 'A profile contains itself.',
    remedy: 'Remove one of the entries that close the circle.',
  },
  'profile-duplicate': {
    happened: 'Two profiles have the same name.',
    remedy: 'Rename or remove one of them.',
  },
  'domain-invalid': {
    happened: 'The name of a domain is not well-formed.',
    remedy:
      'Write it as `www.example.com`: without scheme, port and path. A wildcard domain is ' +
      'written `.example.com`.',
  },
  'domain-duplicate': {
    happened:
      'Two manifests declare the same domain, or an import has two values for one of its items.',
    remedy: 'Keep one of them.',
  },
  'item-unknown': {
    happened: 'There is no item of this name.',
    remedy: 'Correct the name: `edgewise explain` lists all items.',
  },
  'item-invalid': {
    happened: "An item's value does not follow the specification of the service.",
    remedy: 'Correct the value: `edgewise explain ITEM` shows its fields and rules.',
  },
  'item-conflict': {
    happened: 'Two items of a domain contradict each other, or one has no effect.',
    remedy: 'Keep one of the two. A warning may be intended.',
  },
  'item-unnamed': {
    happened: 'The specification does not document the wire name of the item.',
    remedy: 'Name it under `service.itemKeys`.',
  },
  'unset-unavailable': {
    happened: 'The item has `$unset`, but the specification documents no reset.',
    remedy:
      'Set a value that has the wanted effect, or remove the item to release it. If the account ' +
      'offers DELETE /domain/config, set `service.unset` in `edgewise.yaml`.',
  },
  'reference-unknown': {
    happened: 'A variable or a secret is not defined, or can not be used at this place.',
    remedy:
      'Define it: a variable under `vars`, a secret under `secrets`. `$${` is a literal `${`.',
  },
  'secret-literal': {
    happened: 'A secret field has the secret itself.',
    remedy: 'Refer to it with `${secret:NAME}`, and change the secret: it is in the history.',
  },
  'secret-invalid': {
    happened:
      'A secret is used where none is allowed or beside a literal `${secret:`, or its ' +
      'declaration is wrong.',
    remedy: 'Use it in a text of an item, and declare one source for it under `secrets`.',
  },
  'secret-weak': {
    happened: 'A secret is so short or common that its fingerprint in state can be guessed.',
    remedy: 'Choose a longer, random value.',
  },
  'secret-suspected': {
    happened: "A header's value looks like a token or a key, and stands in the manifest itself.",
    remedy:
      'Refer to it with `${secret:NAME}`, and replace the token or key if the file was ever ' +
      'shared.',
  },
  'token-literal': {
    happened: '`service.token` is the token itself.',
    remedy: 'Write `${env:EDGEWISE_TOKEN}`, and replace the token: it is in the history.',
  },
  'too-many-problems': {
    happened: 'The file has more than 200 problems; only their number is given.',
    remedy: 'Correct the listed ones, and validate again.',
  },
}
