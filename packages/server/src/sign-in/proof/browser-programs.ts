/*
 * Which programs on a device are browsers. A name proves nothing: what counts is who signed the program, or, where
 * programs are not signed, that only an administrator of the device can have put it there.
 */

/** What osquery says of the program that owns a socket; empty texts where a platform does not say it. */
export interface ProgramFacts {
  readonly path: string
  /** macOS: `1` for a valid signature. */
  readonly signed: string
  readonly teamIdentifier: string
  readonly identifier: string
  readonly authority: string
  /** Windows: `trusted` for a valid signature. */
  readonly signatureResult: string
  readonly signer: string
  /** Linux: who owns the file, and its permissions in octal digits. */
  readonly fileUid: string
  readonly fileMode: string
  readonly userNamespace: string
  /** That of the first process of the device. */
  readonly firstUserNamespace: string
}

/** The platforms whose osquery can be asked. */
export type ProofPlatform = 'darwin' | 'windows' | 'linux'

/** The name of the browser that a program is; undefined for every other program. */
export function findBrowser(platform: ProofPlatform, facts: ProgramFacts): string | undefined {
  switch (platform) {
    case 'darwin':
      return findMacBrowser(facts)
    case 'windows':
      return findWindowsBrowser(facts)
    case 'linux':
      return findLinuxBrowser(facts)
  }
}

/**
 * Whether a program is one that an admin has named, at exactly this path, and nobody but an administrator of the
 * device can have put another in its place.
 */
export function isNamedProgram(
  platform: ProofPlatform,
  facts: ProgramFacts,
  named: readonly { readonly path: string }[],
): boolean {
  const isSame = (path: string) =>
    platform === 'windows' ? path.toLowerCase() === facts.path.toLowerCase() : path === facts.path
  if (!named.some(({ path }) => isSame(path))) return false
  if (platform === 'darwin') return facts.signed === '1'
  if (platform === 'windows') return facts.signatureResult === 'trusted'
  return isInstalledByRoot(facts)
}

/** The team of Apple's developers that signs a browser, and how the identifiers of its programs begin. */
const MAC_BROWSERS: readonly (readonly [name: string, team: string, identifier: string])[] = [
  ['Chrome', 'EQHXZ8M8AV', 'com.google.Chrome'],
  ['Firefox', '43AQ936H96', 'org.mozilla.'],
  ['Edge', 'UBF8T346G9', 'com.microsoft.edgemac'],
  ['Brave', 'KL8N8XSYF4', 'com.brave.Browser'],
  ['Opera', 'A2P9LX4JPN', 'com.operasoftware.Opera'],
  ['Vivaldi', '4XF3XNRN6Y', 'com.vivaldi.Vivaldi'],
  ['Arc', 'S6N382Y83G', 'company.thebrowser.'],
  ['DuckDuckGo', 'HKE973VLUW', 'com.duckduckgo.macos.browser'],
]

/** Programs of Apple have no team; all web views of the system use this one process for their connections. */
const APPLE_IDENTIFIERS: readonly string[] = ['com.apple.WebKit.Networking', 'com.apple.Safari']
const APPLE_AUTHORITY = 'Software Signing'

function findMacBrowser(facts: ProgramFacts): string | undefined {
  if (facts.signed !== '1') return undefined
  if (facts.authority === APPLE_AUTHORITY && APPLE_IDENTIFIERS.includes(facts.identifier)) {
    return 'Safari'
  }
  return MAC_BROWSERS.find(
    ([, team, identifier]) =>
      facts.teamIdentifier === team && facts.identifier.startsWith(identifier),
  )?.[0]
}

interface WindowsBrowser {
  readonly name: string
  readonly signer: string
  readonly programs: readonly string[]
  /** The signer signs tunnels as well, which anyone can rename: only where an administrator installs. */
  readonly isOfProgramFiles?: boolean
}

const WINDOWS_BROWSERS: readonly WindowsBrowser[] = [
  { name: 'Chrome', signer: 'Google LLC', programs: ['chrome.exe'] },
  { name: 'Firefox', signer: 'Mozilla Corporation', programs: ['firefox.exe'] },
  {
    name: 'Edge',
    signer: 'Microsoft Corporation',
    programs: ['msedge.exe', 'msedgewebview2.exe'],
    isOfProgramFiles: true,
  },
  { name: 'Brave', signer: 'Brave Software, Inc.', programs: ['brave.exe'] },
  { name: 'Opera', signer: 'Opera Norway AS', programs: ['opera.exe'] },
  { name: 'Vivaldi', signer: 'Vivaldi Technologies AS', programs: ['vivaldi.exe'] },
]

const PROGRAM_FILES = /^[a-z]:\\program files( \(x86\))?\\/

function findWindowsBrowser(facts: ProgramFacts): string | undefined {
  if (facts.signatureResult !== 'trusted') return undefined
  const path = facts.path.toLowerCase()
  const program = path.slice(path.lastIndexOf('\\') + 1)
  return WINDOWS_BROWSERS.find(
    ({ signer, programs, isOfProgramFiles = false }) =>
      facts.signer === signer &&
      programs.includes(program) &&
      (!isOfProgramFiles || PROGRAM_FILES.test(path)),
  )?.name
}

/** Where packages put browsers. */
const LINUX_BROWSERS: readonly (readonly [name: string, path: RegExp])[] = [
  ['Chrome', /^\/opt\/google\/chrome(-beta|-unstable)?\/chrome$/],
  ['Chromium', /^\/usr\/lib(64)?\/chromium(-browser)?\/chromium(-browser)?$/],
  ['Firefox', /^\/usr\/lib(64)?\/firefox(-esr)?\/firefox(-bin|-esr)?$/],
  ['Firefox', /^\/opt\/firefox\/firefox(-bin)?$/],
  ['Edge', /^\/opt\/microsoft\/msedge(-beta|-dev)?\/msedge$/],
  ['Brave', /^\/opt\/brave\.com\/brave\/brave$/],
  ['Opera', /^\/usr\/lib(\/x86_64-linux-gnu|64)?\/opera(-stable)?\/opera$/],
  ['Vivaldi', /^\/opt\/vivaldi\/vivaldi-bin$/],
  ['Firefox', /^\/snap\/firefox\/\d+\/usr\/lib\/firefox\/firefox$/],
  ['Chromium', /^\/snap\/chromium\/\d+\/usr\/lib\/chromium-browser\/chrome$/],
  ['Brave', /^\/snap\/brave\/\d+\/opt\/brave\.com\/brave\/brave$/],
]

function findLinuxBrowser(facts: ProgramFacts): string | undefined {
  const browser = LINUX_BROWSERS.find(([, path]) => path.test(facts.path))
  return browser !== undefined && isInstalledByRoot(facts) ? browser[0] : undefined
}

/**
 * A user who makes a user namespace can put any program under any path that osquery is told; without one that
 * takes root. The file that osquery sees must belong to root, and nobody else may write to it.
 */
function isInstalledByRoot(facts: ProgramFacts): boolean {
  const { fileUid, fileMode, userNamespace, firstUserNamespace } = facts
  if (fileUid !== '0' || userNamespace === '' || userNamespace !== firstUserNamespace) return false
  return /^[0-7]{3,5}$/.test(fileMode) && (Number.parseInt(fileMode, 8) & 0o022) === 0
}
