/*
 * Which requests the lists of a service answer: read out of the document that it publishes, so that a
 * list or a searchable field that is new is measured without being named here.
 */

/** A list with real ids in its path. */
export interface PublishedList {
  /** As the document names it. */
  readonly name: string
  readonly path: string
  /** Whether API keys may ask for it; some lists are those of whoever is signed in. */
  readonly isForKeys: boolean
  /** Whether its last records may be asked for first. */
  readonly isOrdered: boolean
  /** Each searchable field with each of its operators, as `name~`. */
  readonly fields: readonly string[]
  /** The `query` of each search: every field with every operator, rare and frequent values. */
  readonly searches: readonly string[]
}

interface Operation {
  readonly parameters?: readonly {
    readonly name: string
    readonly examples?: Readonly<Record<string, { readonly value: string }>>
  }[]
  /** The credentials that open it, each by itself. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly responses: Readonly<Record<string, { readonly content?: unknown }>>
}

/** As much of an OpenAPI document as lists are found by. */
export interface ListDocument {
  readonly paths: Readonly<Record<string, { readonly get?: Operation }>>
}

/**
 * The lists of the document. `ids` has an id for the beginning of each path with a parameter
 * (`/devices/{id}`), without which the list is left out; `fieldsByPath` the fields of lists that the
 * document names none of.
 */
export function findLists(
  document: ListDocument,
  ids: Readonly<Record<string, string>>,
  fieldsByPath: Readonly<Record<string, readonly string[]>> = {},
): PublishedList[] {
  return Object.entries(document.paths).flatMap(([name, { get }]) => {
    const path = toPath(name, ids)
    if (get === undefined || path === undefined || !isList(get)) return []
    const keys = fieldsByPath[name] ?? fieldsOf(get)
    const clauses = keys.map((key) => clausesOf(key, get))
    const searches = [...clauses.flat(), ...combine(clauses)]
    return [
      { name, path, isForKeys: isForKeys(get), isOrdered: isOrdered(get), fields: keys, searches },
    ]
  })
}

function isOrdered({ parameters = [] }: Operation): boolean {
  return parameters.some(({ name }) => name === 'order')
}

/** What stands before the parameters of the paths of lists: where their ids come from. */
export function findParents(document: ListDocument): string[] {
  const names = Object.entries(document.paths).flatMap(([name, { get }]) =>
    get !== undefined && isList(get) && name.includes('/{') ? [toCollection(name)] : [],
  )
  return [...new Set(names)]
}

function isList({ parameters = [] }: Operation): boolean {
  return parameters.some(({ name }) => name === 'cursor')
}

function isForKeys({ security = [] }: Operation): boolean {
  return security.some((scheme) => 'apiKey' in scheme)
}

/** `name~`, `created_at>`: the keys of the examples of `query`. */
function fieldsOf({ parameters = [] }: Operation): string[] {
  return Object.keys(parameters.find(({ name }) => name === 'query')?.examples ?? {})
}

function toCollection(name: string): string {
  return name.slice(0, name.indexOf('/{'))
}

function toPath(name: string, ids: Readonly<Record<string, string>>): string | undefined {
  if (!name.includes('/{')) return name
  const id = ids[toCollection(name)]
  return id === undefined ? undefined : name.replace(/\{\w+\}/, id)
}

/** Lists whose rows hold what devices report; of their fields, these are not reported. */
const REPORTED = '/reporting/tables/{name}/table_records'
const OWN_FIELD = /^(?:device_id|device_name|collected_at)[:~<>]/

/** Whether an index answers a search: one clause, about a whole value, a time or three letters or more. */
export function isIndexedSearch(listName: string, query: string): boolean {
  if (/ (?:AND|OR) /.test(query)) return false
  if (listName === REPORTED && !OWN_FIELD.test(query)) return false
  return !query.includes('~') || /[\p{L}\p{N}]{3}/u.test(query.slice(query.indexOf('~')))
}

/** What the document shows as the value of a text. */
const TEXT_EXAMPLE = '"a text"'
const IDS = { ':': ['4711', '[4711,"815",999999999]'], '~': ['4711', '47', '999999999'] }
/** In few records, in many, by a single letter that is frequent or is not, and in none. */
const TEXTS = { ':': ['qzxv', 'Robin Sparrow'], '~': ['4711', 'robin', 'a', 'q', 'qzxv'] }
const NUMBERS = ['0', '3', '11']
/** Fields of times by their names. */
export const TIME_FIELD = /(?:_at|_since|^timestamp)$/
const DAYS_AGO = [-400, -2, 0, 1, 30, 300, 4_000]

function clausesOf(key: string, get: Operation): string[] {
  const field = key.slice(0, -1)
  const operator = key.slice(-1)
  return valuesOf(field, operator, get).map((value) => `${key}${value}`)
}

function valuesOf(field: string, operator: string, get: Operation): readonly string[] {
  const example = exampleOf(`${field}${operator}`, get)
  if (operator === '<' || operator === '>') {
    return /^\d+$/.test(example) ? NUMBERS : DAYS_AGO.map(toTime)
  }
  if (TIME_FIELD.test(field)) return [1, 4_000].map(toTime)
  if (example === 'true') return ['true', 'false']
  // What is compared by size is a number, and takes no list of values as ids do.
  if (/^\d+$/.test(example) && /^\d+$/.test(exampleOf(`${field}<`, get))) return NUMBERS
  if (/^\d+$/.test(example)) return operator === '~' ? IDS['~'] : IDS[':']
  if (example !== TEXT_EXAMPLE) return [example, ...(WORDS[example] ?? [])]
  const own = OWN_TEXTS[`${field}${operator}`] ?? []
  return [...(operator === '~' ? TEXTS['~'] : TEXTS[':']), ...own].map(quote)
}

function exampleOf(key: string, { parameters = [] }: Operation): string {
  const { examples = {} } = parameters.find(({ name }) => name === 'query') ?? {}
  return examples[key]?.value.slice(key.length) ?? TEXT_EXAMPLE
}

function toTime(daysAgo: number): string {
  return quote(new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10))
}

function quote(text: string): string {
  return `"${text}"`
}

/** Further words of an enumeration, by the one that the document shows. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  '"Mac"': ['"Linux"', '"Android"'],
  '"unknown"': ['"passing"', '"failing"', '"errored"', '"stale"'],
  '"open"': ['"denied"', '"withdrawn"'],
  '"pending"': ['"denied"'],
  '"Success"': ['"Fail"'],
  '"osquery"': ['"external"', '"custom"'],
}

/** Texts that the data of the benchmark has, once or very often, and that none has but the words of which many have. */
const OWN_TEXTS: Readonly<Record<string, readonly string[]>> = {
  'serial:': ['SN00042317'],
  'city:': ['Graz', 'graz'],
  'country~': ['por'],
  'ip_address:': ['198.51.42.77'],
  'ip_address~': ['198.51.', '.77'],
  'agent_version:': ['5.1'],
  'agent_version~': ['5.1', '.2'],
  'person_name:': ['robin'],
  'person_email:': ['robin.sparrow10@example.com'],
  'person_email~': ['example.com', 'sparrow47'],
  'email:': ['robin.sparrow10@example.com'],
  'email~': ['example.com'],
  'actor_name:': ['Ada Lovelace'],
  'description~': ['SN000424', 'renamed'],
  'issue_value~': ['/Library/', 'Extension'],
  'title~': ['expectation 7'],
  'issue_key:': ['path'],
  'tables_used:': ['os_version'],
  'error_message~': ['no such table'],
}

/** Each pair of neighbouring fields, joined in both ways, and three at once. */
function combine(clauses: readonly (readonly string[])[]): string[] {
  return clauses.flatMap((own, index) => {
    const next = clauses[(index + 1) % clauses.length] ?? []
    const third = clauses[(index + 2) % clauses.length] ?? []
    const [first, second, last] = [own[0], next.at(-1), third[0]]
    if (first === undefined || second === undefined || last === undefined) return []
    return [
      `${first} AND ${second}`,
      `${first} OR ${second}`,
      `(${first} OR ${second}) AND ${last}`,
    ]
  })
}
