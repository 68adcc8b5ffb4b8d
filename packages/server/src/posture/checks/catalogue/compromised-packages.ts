import type { CheckPlatform } from '../check-definition.ts'
import type { CatalogueEntry } from './catalogue-entry.ts'
import { listHomePatterns, noHomesSql } from './home-files-sql.ts'
import { maliciousTablesSql, type Incident } from './malicious-software.ts'
import type { ReleaseData } from './release-data.ts'
import { failingRowsSql, isEmptySql, quoteSql } from './verdict-sql.ts'

/** Where packages lie that are installed for a device or account, not for a project. */
interface PackagePlaces {
  /** Folders with a `node_modules`, exact. */
  readonly npmFolders: readonly string[]
  /** The same in homes. */
  readonly npmHomeFolders: readonly string[]
  /** Patterns of folders with Python packages. */
  readonly pypiFolders: readonly string[]
  readonly pypiHomeFolders: readonly string[]
}

const POSIX_NPM_HOME_FOLDERS = [
  '.npm-global/lib',
  '.nvm/versions/node/%/lib',
  '.volta/tools/image/packages/%/lib',
]
const POSIX_PYPI_HOME_FOLDERS = [
  '.local/pipx/venvs/%/lib/python3%/site-packages',
  '.local/share/pipx/venvs/%/lib/python3%/site-packages',
  '.local/share/uv/tools/%/lib/python3%/site-packages',
  '.pyenv/versions/%/lib/python3%/site-packages',
]

const PLACES: Readonly<Record<CheckPlatform, PackagePlaces>> = {
  darwin: {
    npmFolders: ['/usr/local/lib', '/opt/homebrew/lib'],
    npmHomeFolders: POSIX_NPM_HOME_FOLDERS,
    pypiFolders: [
      '/usr/local/lib/python3%/site-packages',
      '/opt/homebrew/lib/python3%/site-packages',
      '/Library/Frameworks/Python.framework/Versions/%/lib/python3%/site-packages',
      '/Library/Python/%/site-packages',
    ],
    pypiHomeFolders: ['Library/Python/%/lib/python/site-packages', ...POSIX_PYPI_HOME_FOLDERS],
  },
  windows: {
    npmFolders: [String.raw`C:\Program Files\nodejs`],
    npmHomeFolders: ['AppData/Roaming/npm', 'AppData/Roaming/nvm/%', 'AppData/Local/nvm/%'],
    pypiFolders: [
      String.raw`C:\Program Files\Python%\Lib\site-packages`,
      String.raw`C:\Python%\Lib\site-packages`,
    ],
    pypiHomeFolders: [
      'AppData/Local/Programs/Python/Python%/Lib/site-packages',
      'AppData/Roaming/Python/Python%/site-packages',
      'AppData/Roaming/uv/tools/%/Lib/site-packages',
      'pipx/venvs/%/Lib/site-packages',
    ],
  },
  linux: {
    npmFolders: ['/usr/lib', '/usr/local/lib'],
    npmHomeFolders: POSIX_NPM_HOME_FOLDERS,
    pypiFolders: [
      '/usr/lib/python3/dist-packages',
      '/usr/lib/python3%/site-packages',
      '/usr/local/lib/python3%/dist-packages',
      '/usr/local/lib/python3%/site-packages',
    ],
    pypiHomeFolders: ['.local/lib/python3%/site-packages', ...POSIX_PYPI_HOME_FOLDERS],
  },
}

const SEPARATORS: Readonly<Record<CheckPlatform, string>> = {
  darwin: '/',
  windows: '\\',
  linux: '/',
}

// The folder of a Python package is named by it and its version, such as litellm-1.82.8.dist-info, with `_` for
// every other sign in its name; in LIKE `_` stands for any.
function toQuery(platform: CheckPlatform, incidents: readonly Incident[]): string {
  const separator = SEPARATORS[platform]
  const pypiPath = `'%${separator}' || replace(m.name, '-', '_') || '-' || m.version || '.dist-info${separator}METADATA'`
  return failingRowsSql(
    ['package', 'version', 'registry', 'path', 'incident'],
    `SELECT m.name, m.version, CASE m.kind WHEN 'npm' THEN 'npm' ELSE 'PyPI' END, MIN(i.path), m.incident
FROM installed i JOIN malicious m ON m.kind = i.kind
  AND CASE m.kind WHEN 'npm' THEN i.name = m.name AND i.version = m.version ELSE i.path LIKE ${pypiPath} END
GROUP BY m.kind, m.name, m.version`,
    [
      ['UNKNOWN', noHomesSql(platform)],
      ['INAPPLICABLE', isEmptySql('installed')],
    ],
    `${maliciousTablesSql(incidents, ['npm', 'pypi'])},
installed(kind, name, version, path) AS (${npmPackagesSql(platform)}
UNION ALL ${pypiPackagesSql(platform)})`,
  )
}

// The folders in homes are those below which at least one package lies. osquery reads the packages of a folder
// that is named; without one each of its releases reads other places.
function npmPackagesSql(platform: CheckPlatform): string {
  const { npmFolders, npmHomeFolders } = PLACES[platform]
  const modules = `${SEPARATORS[platform]}node_modules${SEPARATORS[platform]}`
  const folders = [
    ...npmFolders.map((folder) => `SELECT ${quoteSql(folder)} AS folder`),
    ...listHomePatterns(platform, npmHomeFolders).map((pattern) => {
      const packages = `${pattern}${modules}%${SEPARATORS[platform]}package.json`
      return `SELECT substr(path, 1, instr(path, ${quoteSql(modules)}) - 1) FROM file WHERE path LIKE ${quoteSql(packages)}`
    }),
  ]
  return `SELECT 'npm', p.name, p.version, p.path
  FROM (${folders.join('\n    UNION ')}) f CROSS JOIN npm_packages p ON p.directory = f.folder`
}

function pypiPackagesSql(platform: CheckPlatform): string {
  const { pypiFolders, pypiHomeFolders } = PLACES[platform]
  const separator = SEPARATORS[platform]
  return [...pypiFolders, ...listHomePatterns(platform, pypiHomeFolders)]
    .map((folder) => quoteSql(`${folder}${separator}%.dist-info${separator}METADATA`))
    .map((pattern) => `SELECT 'pypi', '', '', path FROM file WHERE path LIKE ${pattern}`)
    .join('\nUNION ALL ')
}

/** No package that is installed for the device or an account is a release that attackers published. */
export function compromisedPackages({
  malicious_software: malicious,
}: ReleaseData): CatalogueEntry {
  return {
    slug: 'compromised-packages',
    name: 'No compromised npm or PyPI packages',
    description: `No npm or PyPI package that is installed globally or for an account, also by nvm, Volta, pyenv, pipx and uv, is a release that attackers are known to have published, up to ${malicious.as_of}. The packages of single projects are not read. Inapplicable where no package is installed.`,
    issueTitle: 'A compromised package is installed',
    topics: ['malware'],
    tags: ['Critical'],
    queries: {
      darwin: toQuery('darwin', malicious.incidents),
      windows: toQuery('windows', malicious.incidents),
      linux: toQuery('linux', malicious.incidents),
    },
    primaryKeyColumn: 'package',
    rationaleTemplate: `Attackers published version {{ issue.value.version }} of **{{ issue.value.package }}** on {{ issue.value.registry }} ({{ issue.value.incident }}). It ran when it was installed or first used: the passwords, tokens and keys on {{ device.name }} are to be taken for stolen.`,
    fix: `1. Tell your IT or security team at once: they want to see what the package has done before it is removed.
2. Remove it. npm: \`npm uninstall -g NAME\`. Python: \`pip uninstall NAME\`, or the same with \`pipx\` or \`uv tool\`. The name is {{ issue.value.package | code }}, and it lies at {{ issue.value.path | code }}.
3. Empty the caches: \`npm cache clean --force\`, \`pip cache purge\`.
4. From another device change the passwords, tokens and keys that were on this one: those of clouds, registries, Git and SSH first.
5. Look for the same version in your projects and their lock files.`,
    privacyInfo:
      'Name, version and path of the compromised packages that were found. No other packages and no projects.',
    defaultStrategy: 'warn_then_block',
    graceDays: 1,
    strategyReason: 'Steals tokens and keys as soon as it is installed; named by name and version.',
    shelfLife: 'setting',
  }
}
