import { put, remove } from '../personas/template-rows.ts'
import type { KnobSource } from './knob.ts'

interface AccountFile {
  readonly name: string
  readonly title: string
  /** The folder in the home, with `/` between folders. */
  readonly folder: string
  readonly file: string
}

const ACCOUNT_FILES: readonly AccountFile[] = [
  {
    name: 'backup-codes',
    title: 'No backup codes lie in the folders of the person',
    folder: 'Downloads',
    file: 'github-recovery-codes.txt',
  },
  {
    name: 'password-manager-kit',
    title: 'No kit or export of a password manager lies in the folders of the person',
    folder: 'Documents',
    file: '1Password Emergency Kit A3-7F2K9Q-example.pdf',
  },
  {
    name: 'cloud-credentials',
    title: 'No credentials of a cloud lie in the home in plain text',
    folder: '.aws',
    file: 'credentials',
  },
  {
    name: 'registry-credentials',
    title: 'No credentials of a registry lie in the home in plain text',
    folder: '.cargo',
    file: 'credentials.toml',
  },
]

/** The knobs of files in homes that open accounts. `separator` stands between folders. */
export function accountFileKnobs(separator: '/' | '\\'): KnobSource[] {
  return ACCOUNT_FILES.map(({ name, title, folder, file }) => {
    const directory = `{home}${separator}${folder}`
    const path = `${directory}${separator}${file}`
    const row = { path, directory, filename: file, uid: '{uid}', size: 1_184, type: 'regular' }
    return { name, title, good: [remove('file', { path })], bad: [put('file', row, 'path')] }
  })
}
