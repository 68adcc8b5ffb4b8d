/*
 * Files in which tools of developers keep credentials in plain text: of clouds, and of registries and code hosts.
 * They are told by their path; what is in them is never read.
 */
import type { CheckPlatform } from '../check-definition.ts'
import type { CatalogueEntry } from './catalogue-entry.ts'
import { homeFilesSql, noHomesSql } from './home-files-sql.ts'
import { failingRowsSql, likeAnySql, quoteSql } from './verdict-sql.ts'

interface CredentialPlaces {
  /** Relative to the home, on every platform. */
  readonly everywhere: readonly string[]
  readonly posix: readonly string[]
  readonly windows: readonly string[]
}

const CLOUD_PLACES: CredentialPlaces = {
  everywhere: [
    '.aws/credentials',
    '.azure/accessTokens.json',
    '.azure/service_principal_entries.json',
    '.databrickscfg',
    '.oci/oci_api_key.pem',
    '.terraform.d/credentials.tfrc.json',
  ],
  posix: [
    '.azure/msal_token_cache.json',
    '.config/doctl/config.yaml',
    '.config/gcloud/application_default_credentials.json',
    '.config/gcloud/legacy_credentials/%/adc.json',
    '.s3cfg',
  ],
  windows: [
    'AppData/Roaming/doctl/config.yaml',
    'AppData/Roaming/gcloud/application_default_credentials.json',
    'AppData/Roaming/gcloud/legacy_credentials/%/adc.json',
    'AppData/Roaming/terraform.d/credentials.tfrc.json',
  ],
}

const REGISTRY_PLACES: CredentialPlaces = {
  everywhere: [
    '.cargo/credentials',
    '.cargo/credentials.toml',
    '.docker/config.json',
    '.gem/credentials',
    '.git-credentials',
    '.npmrc',
    '.pypirc',
  ],
  posix: [
    '.config/containers/auth.json',
    '.config/git/credentials',
    '.local/share/gem/credentials',
    '.netrc',
  ],
  windows: ['_netrc'],
}

// What is shorter cannot hold the address of a registry and a token.
const SIZE_MIN = 64

// Docker keeps passwords in the file only where none of these helpers is installed.
const DOCKER_HELPERS: Readonly<Record<CheckPlatform, readonly string[]>> = {
  darwin: [
    '/Applications/Docker.app/Contents/Resources/bin/docker-credential-%',
    '/opt/homebrew/bin/docker-credential-%',
    '/usr/local/bin/docker-credential-%',
    '/Users/%/.rd/bin/docker-credential-%',
    '/Users/%/.orbstack/bin/docker-credential-%',
  ],
  windows: [
    String.raw`C:\Program Files\Docker\Docker\resources\bin\docker-credential-%`,
    String.raw`C:\Program Files\Rancher Desktop\resources\resources\win32\bin\docker-credential-%`,
  ],
  linux: ['/usr/bin/docker-credential-%', '/usr/local/bin/docker-credential-%'],
}

const DOCKER_SETTINGS = ['%/.docker/config.json', String.raw`%\.docker\config.json`]

function listPlaces(platform: CheckPlatform, places: CredentialPlaces): string[] {
  return [...places.everywhere, ...(platform === 'windows' ? places.windows : places.posix)]
}

function cloudQuery(platform: CheckPlatform): string {
  const files = homeFilesSql(platform, listPlaces(platform, CLOUD_PLACES))
  return failingRowsSql(['path', 'size'], `SELECT path, size FROM (${files}) WHERE size > 0`, [
    ['UNKNOWN', noHomesSql(platform)],
  ])
}

function registryQuery(platform: CheckPlatform): string {
  const files = homeFilesSql(platform, listPlaces(platform, REGISTRY_PLACES))
  const helpers = DOCKER_HELPERS[platform]
    .map((pattern) => `SELECT path FROM file WHERE path LIKE ${quoteSql(pattern)}`)
    .join('\nUNION ALL ')
  return failingRowsSql(
    ['path', 'size'],
    `SELECT path, size FROM (${files})
WHERE size >= ${SIZE_MIN} AND NOT (${likeAnySql('path', DOCKER_SETTINGS)} AND EXISTS (SELECT 1 FROM helpers))`,
    [['UNKNOWN', noHomesSql(platform)]],
    `helpers AS (${helpers})`,
  )
}

/** No credentials of a cloud lie in the homes of people in plain text. */
export const plainTextCloudCredentials: CatalogueEntry = {
  slug: 'plain-text-cloud-credentials',
  name: 'No plain-text cloud credentials',
  description:
    'The files in which the tools of AWS, Google Cloud, Azure, Oracle Cloud, DigitalOcean, Databricks, S3 and Terraform keep long-lived credentials in plain text are not there. They are told by their path alone.',
  issueTitle: 'Cloud credentials lie on the disk in plain text',
  topics: ['credentials'],
  tags: ['Important'],
  queries: {
    darwin: cloudQuery('darwin'),
    windows: cloudQuery('windows'),
    linux: cloudQuery('linux'),
  },
  primaryKeyColumn: 'path',
  rationaleTemplate: `The file {{ issue.value.path | code }} is where a tool keeps credentials of a cloud, readable for every program that runs in your name. Harmful packages and programs look for exactly this file and send it away.`,
  fix: `Move the credentials out of {{ issue.value.path | code }}:

- AWS: use \`aws configure sso\` and \`aws sso login\`, or keep the keys in your password manager and name it in \`credential_process\`. Then delete the keys of the file, and in AWS too if they were long in use.
- Google Cloud: run \`gcloud auth application-default revoke\` when you do not need them; sign in again with \`gcloud auth application-default login\` when you do, or use a service account that you impersonate.
- Azure: run \`az logout\` or \`az account clear\` after your work.
- Terraform: run \`terraform logout\`, and give the token by an environment variable that your password manager fills in.
- Other tools: run their command for signing out.

If the file holds no credentials, or your work needs it, ask for an exemption.`,
  privacyInfo:
    'Path and size of the files in which these tools keep credentials. Never what is in them.',
  defaultStrategy: 'report_only',
  strategyReason: 'Developers need time and another way to sign in; shows where to begin.',
  shelfLife: 'setting',
}

/** No credentials of a registry or a code host lie in the homes of people in plain text. */
export const plainTextRegistryCredentials: CatalogueEntry = {
  slug: 'plain-text-registry-credentials',
  name: 'No plain-text registry credentials',
  description:
    'The files in which npm, PyPI, Docker, Podman, Cargo, RubyGems, Git and netrc keep passwords and tokens in plain text are not there. They are told by path and size alone: a file that is too short for a token does not count, nor does that of Docker where a credential helper is installed.',
  issueTitle: 'Credentials of a registry lie on the disk in plain text',
  topics: ['credentials'],
  tags: ['Important'],
  queries: {
    darwin: registryQuery('darwin'),
    windows: registryQuery('windows'),
    linux: registryQuery('linux'),
  },
  primaryKeyColumn: 'path',
  rationaleTemplate: `The file {{ issue.value.path | code }} is where a tool keeps passwords or tokens of a registry or code host, readable for every program that runs in your name. Worms among packages steal such tokens and publish themselves in your name.`,
  fix: `Look into {{ issue.value.path | code }}. If it holds a token or password:

- npm: run \`npm logout\`. Publish from your build service, or give the token by an environment variable: \`//registry.npmjs.org/:_authToken=\${NPM_TOKEN}\`.
- PyPI: delete the password from the file and keep it with \`keyring set https://upload.pypi.org/legacy/ __token__\`, or publish from your build service.
- Docker and Podman: install a credential helper (\`docker-credential-osxkeychain\`, \`-wincred\`, \`-secretservice\` or \`-pass\`), run \`docker logout\`, then \`docker login\` again.
- Git: run \`git config --global credential.helper\` with \`osxkeychain\`, \`manager\` or \`libsecret\`, then delete the file.
- Cargo and RubyGems: run \`cargo logout\` or delete the file, and keep the token in your password manager.

Then revoke the old token at its registry. If the file holds settings only, ask for an exemption.`,
  privacyInfo:
    'Path and size of the files in which these tools keep credentials. Never what is in them.',
  defaultStrategy: 'report_only',
  strategyReason: 'Told by path and size, which can be wrong: some such files hold settings only.',
  shelfLife: 'setting',
}
