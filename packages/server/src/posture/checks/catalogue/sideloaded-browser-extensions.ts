import type { CatalogueEntry } from './catalogue-entry.ts'
import { failingRowsSql, isEmptySql, likeAnySql } from './verdict-sql.ts'

// Extensions that belong to the browser lie in its own folder, not in the profile of a person.
const BROWSER_FOLDERS = [
  '%.app/Contents/%',
  '/opt/%',
  '/usr/lib%',
  '/usr/share/%',
  '/snap/%',
  '/app/%',
  String.raw`%:\Program Files%`,
  String.raw`%\Application\%\resources\%`,
]

const STORE_UPDATE_ADDRESSES = [
  'https://clients2.google.com/service/update2/crx%',
  'https://edge.microsoft.com/extensionwebstorebase/%',
]

// Whether an extension is active was told by Chrome until 2025, and is by Opera, Vivaldi and Arc; elsewhere
// `state` is empty, and so `from_webstore` may be: then its update address tells. What comes from Edge Add-ons
// is not from the web store either. Folders that no profile refers to are left over and not loaded.
const sql = failingRowsSql(
  ['path', 'name', 'identifier', 'version', 'browser_type', 'username'],
  `SELECT e.path, e.name, e.identifier, e.version, e.browser_type, u.username
FROM users u CROSS JOIN chrome_extensions e ON e.uid = u.uid
WHERE COALESCE(e.state, '') IN ('', '1') AND e.referenced = 1
  AND CASE lower(COALESCE(e.from_webstore, ''))
    WHEN 'true' THEN 0 WHEN '1' THEN 0
    WHEN '' THEN NOT ${likeAnySql(`COALESCE(e.update_url, '')`, STORE_UPDATE_ADDRESSES)}
    ELSE COALESCE(e.update_url, '') NOT LIKE 'https://edge.microsoft.com/%'
  END
  AND NOT ${likeAnySql('e.path', BROWSER_FOLDERS)}`,
  [
    ['UNKNOWN', isEmptySql('users')],
    ['INAPPLICABLE', isEmptySql('users u CROSS JOIN chrome_extensions e ON e.uid = u.uid')],
  ],
)

/** Browser extensions come from the store of the browser. */
export const sideloadedBrowserExtensions: CatalogueEntry = {
  slug: 'sideloaded-browser-extensions',
  revision: 2,
  name: 'No sideloaded browser extensions',
  description:
    'Every active extension of Chrome, Edge, Brave and other browsers of the same kind comes from the browser’s store. Chrome, Edge and Brave do not tell which extensions are switched off; there those count too. Inapplicable where no extension is installed.',
  issueTitle: 'A browser extension does not come from the store',
  topics: ['browsers'],
  tags: ['Info'],
  queries: { darwin: sql, windows: sql, linux: sql },
  primaryKeyColumn: 'path',
  rationaleTemplate: `The extension **{{ issue.value.name }}** did not come from the browser’s store, so nobody has looked at it. Extensions can read and change every page that you open, your mail and your bank included.`,
  fix: [
    'Open the browser (**{{ issue.value.browser_type }}**) and enter `chrome://extensions` in the address bar; in Edge `edge://extensions`.',
    'Find **{{ issue.value.name }}** (identifier {{ issue.value.identifier | code }}) and choose **Remove**.',
    'If you need it, install it from the Chrome Web Store or from Edge Add-ons. If you are developing it, ask for an exemption.',
  ],
  privacyInfo:
    'Name, identifier, version, folder and owner of extensions that are not from the store. No other extensions and no browsing data.',
  defaultStrategy: 'report_only',
  strategyReason: 'Developers load their own; admins should look at each.',
  shelfLife: 'software',
}
