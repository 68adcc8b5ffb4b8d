import type { CatalogueEntry } from './catalogue-entry.ts'
import { failingRowsSql } from './verdict-sql.ts'

// What comes from Edge Add-ons is not from the web store either; its update address tells. Extensions
// that belong to the browser lie in its own folder, not in the profile of a person.
const sql = failingRowsSql(
  ['path', 'name', 'identifier', 'version', 'browser_type', 'username'],
  `SELECT e.path, e.name, e.identifier, e.version, e.browser_type, u.username
FROM users u CROSS JOIN chrome_extensions e ON e.uid = u.uid
WHERE e.state = '1' AND lower(e.from_webstore) IN ('0', 'false')
  AND COALESCE(e.update_url, '') NOT LIKE 'https://edge.microsoft.com/%'
  AND e.path NOT LIKE '%.app/Contents/%'
  AND e.path NOT LIKE '%/opt/%'
  AND instr(lower(e.path), 'program files') = 0`,
)

/** Browser extensions come from the store of the browser. */
export const sideloadedBrowserExtensions: CatalogueEntry = {
  slug: 'sideloaded-browser-extensions',
  name: 'No sideloaded browser extensions',
  description:
    'Every active extension of Chrome, Edge, Brave and other browsers of the same kind comes from the browser’s store.',
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
