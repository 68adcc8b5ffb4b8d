// Writes the document about the catalogue (docs/checks.md) from the catalogue itself.
import type {
  CheckDefinition,
  CheckPlatform,
  RemediationStrategy,
} from '../src/posture/checks/check-definition.ts'
import { CHECK_CATALOGUE } from '../src/posture/checks/catalogue/index.ts'
import { BUILT_IN_RELEASE_DATA } from '../src/posture/checks/catalogue/release-data.ts'

const PLATFORM_NAMES: Readonly<Record<CheckPlatform, string>> = {
  darwin: 'macOS',
  windows: 'Windows',
  linux: 'Linux',
}

const STRATEGY_NAMES: Readonly<Record<RemediationStrategy, string>> = {
  block_immediately: 'block immediately',
  warn_then_block: 'warn, then block',
  notify_only: 'notify only',
  report_only: 'report only',
}

const INTRODUCTION = `# Checks

These checks come with Heliograph. Each is a piece of osquery SQL for the platforms that it names;
an organisation configures what a failure leads to, and which devices it is for. This document is made from the catalogue
(\`packages/server/src/posture/checks/catalogue\`), and a test keeps the two alike.

## How a check answers

Every row that a query returns carries \`KOLIDE_CHECK_STATUS\`: \`PASS\`, \`FAIL\`, \`UNKNOWN\` (the device
cannot tell), \`INAPPLICABLE\` (there is nothing to check) or \`ERROR\`. The other columns explain the
verdict and become the value of an issue.

- A check without a primary key returns exactly one row, also when the tables it reads are empty.
- A check with a primary key returns one row for each object that is wrong, and each opens an issue
  of its own. When nothing is wrong it returns a single row with an empty primary key: \`PASS\`, or
  \`INAPPLICABLE\` where there is no such object, or \`UNKNOWN\` where they could not be read.
- No row at all, a row without a status, or an SQL error is an errored result. It opens nothing and
  resolves nothing.

The revision of a check rises whenever its SQL changes; results of an older revision are ignored.
Queries use only tables and columns that osquery documents, and none that need an extension.

## Defaults

A default strategy blocks only where a lost or careless device would do real harm and the user can
fix the cause; everything else notifies or reports, so that a first roll-out surprises nobody.

The defaults are those of a new installation. A check that comes with an upgrade only reports until an
admin gives it another strategy, so that no upgrade notifies or blocks anybody.`

const {
  applications,
  macos,
  windows,
  linux,
  browsers,
  malicious_software: malicious,
  date,
} = BUILT_IN_RELEASE_DATA

const RELEASES = `A release that is newer than the newest listed here passes. This version of the service brings
release data of ${date}; \`heliograph release-data show\` tells which is in use, and \`import\` takes newer
from a file ([Operations](operations.md#release-data)). Each result of such a check has a column
\`release_data\` with the day of the data that it compared with, and says when that is out of date.`

/** The content of `docs/checks.md`. */
export function renderCatalogueMarkdown(): string {
  return [
    INTRODUCTION,
    renderTable(
      ['Check', 'Platforms', 'Tags', 'Default strategy', 'Why'],
      CHECK_CATALOGUE.map((check) => [
        `[${check.name}](#${check.slug})`,
        check.platforms.map((platform) => PLATFORM_NAMES[platform]).join(', '),
        check.tags.join(', '),
        describeStrategy(check),
        check.strategyReason,
      ]),
    ),
    '## Versions that the checks compare with',
    RELEASES,
    renderTable(
      ['What', 'Source', 'As of', 'Lowest that passes'],
      [
        describeSource('macOS', macos, listMacosVersions()),
        describeSource('Windows', windows, listWindowsBuilds()),
        describeSource('Linux', linux, 'the end of support of each release'),
        describeSource('Browsers', browsers, listBrowserVersions()),
        describeSource('Applications', applications, listApplicationVersions()),
        describeSource(
          'Malicious software',
          malicious,
          'every release that is not of an incident below',
        ),
      ],
    ),
    '### Incidents of malicious software',
    renderTable(
      ['Incident', 'Report'],
      malicious.incidents.map(({ name, source }) => [name, source]),
    ),
    '## The checks',
    ...CHECK_CATALOGUE.map(renderCheck),
  ]
    .join('\n\n')
    .concat('\n')
}

function renderCheck(check: CheckDefinition): string {
  const facts = [
    `- Slug: \`${check.slug}\``,
    `- Issue: ${check.issueTitle}`,
    ...(check.primaryKeyColumn === undefined
      ? []
      : [`- One issue per: \`${check.primaryKeyColumn}\``]),
    `- Topics: ${check.topics.join(', ')}`,
    `- What is collected: ${check.privacyInfo}`,
  ]
  return `<a id="${check.slug}"></a>\n\n### ${check.name}\n\n${check.description}\n\n${facts.join('\n')}`
}

function describeStrategy(check: CheckDefinition): string {
  const name = STRATEGY_NAMES[check.defaultStrategy]
  return check.graceDays === 0 ? name : `${name} after ${check.graceDays} days`
}

function describeSource(
  name: string,
  { source, as_of: asOf }: { readonly source: string; readonly as_of: string },
  lowest: string,
): readonly string[] {
  return [name, source, asOf, lowest]
}

function listMacosVersions(): string {
  return macos.releases
    .map(({ major, minor, patch, until }) => `${major}.${minor}.${patch} until ${until}`)
    .join(', ')
}

function listWindowsBuilds(): string {
  const builds = windows.releases
    .filter(({ revision }) => revision !== undefined)
    .map(({ build, revision }) => `${build}.${revision}`)
  return `${builds.join(', ')}; until the end of servicing of each build`
}

function listBrowserVersions(): string {
  return `Chrome ${browsers.chrome}, Edge ${browsers.edge}, Firefox ${browsers.firefox}`
}

function listApplicationVersions(): string {
  const { safari, xcode, office_mac: officeMac, office_365_build: build } = applications
  const suites = applications.office_windows.map(
    (suite) => `Office ${suite.year} build ${suite.build} until ${suite.until}`,
  )
  return [
    `Safari ${safari}`,
    `Xcode ${xcode}`,
    `Office for Mac ${officeMac}`,
    `Microsoft 365 build ${build}`,
    ...suites,
  ].join(', ')
}

// Columns are padded as Prettier pads them, so that the document passes the format check.
function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [header, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')))
  const widths = header.map((_, column) =>
    Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)),
  )
  const toLine = (row: readonly string[]) =>
    `| ${widths.map((width, column) => (row[column] ?? '').padEnd(width)).join(' | ')} |`
  const [head = [], ...body] = cells
  return [toLine(head), toLine(widths.map((width) => '-'.repeat(width))), ...body.map(toLine)].join(
    '\n',
  )
}
