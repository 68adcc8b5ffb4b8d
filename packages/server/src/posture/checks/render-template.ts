// Renders the rationale and the fix instructions of a check: Markdown with Liquid.
// Owns the bounds (size, time, memory, output) and the escaping of inserted values. Knows no check,
// no issue and no store: it takes plain variables and answers text.
import { Context, Liquid, toValueSync, type Emitter, type Template } from 'liquidjs'
import { AppError } from '../../platform/app-error.ts'
import { escapeMarkdown, toCodeSpan } from './render-template-escaping.ts'

/** A value that a template may read: plain data only, never a function or a class instance. */
export type TemplateValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly TemplateValue[]
  | { readonly [name: string]: TemplateValue }

/** What a template may read, by the names of `TEMPLATE_VARIABLE_ROOTS`. */
export type TemplateVariables = Readonly<Record<string, TemplateValue>>

/** The names that a template may start a variable with: `device.name`, `issue.value.path`. */
export const TEMPLATE_VARIABLE_ROOTS = [
  'check',
  'device',
  'issue',
  'organisation',
  'person',
] as const

/** The longest template that is parsed, in UTF-16 code units. */
export const TEMPLATE_LENGTH_MAX = 32 * 1024

/** The longest text that a template renders to, in UTF-16 code units. */
export const RENDERED_LENGTH_MAX = 64 * 1024

/** By the clock: far more than any template takes, so that a busy machine refuses none. */
const RENDER_MS_MAX = 1_000
const RENDER_MEMORY_MAX = 100_000

const ALLOWED_TAGS = new Set([
  '#',
  'assign',
  'break',
  'case',
  'comment',
  'continue',
  'echo',
  'for',
  'if',
  'raw',
  'unless',
])

// Left out on purpose: `raw` and `json`, which would insert a device's values unescaped, the filters
// that make HTML, those that evaluate an expression, and the random ones.
const ALLOWED_FILTERS = new Set(
  (
    'abs append at_least at_most capitalize ceil compact concat date default divided_by downcase ' +
    'first floor join last lstrip minus modulo plus prepend remove remove_first replace ' +
    'replace_first reverse round rstrip size slice sort split squish strip times to_integer ' +
    'truncate truncatewords uniq upcase where'
  ).split(' '),
)

const liquid = createRestrictedLiquid()

/**
 * The template with its variables filled in; a missing variable renders as nothing. Inserted values
 * are text: Markdown in them is escaped, line breaks become spaces, long values are cut. The filter
 * `code` inserts a value as inline code.
 *
 * Throws `invalid_body` for a template that does not parse or that exceeds a bound (source length,
 * time, memory, output length).
 */
export function renderTemplate(template: string, variables: TemplateVariables): string {
  const output = new BoundedEmitter()
  try {
    const context = new Context(variables, liquid.options, { sync: true }, { liquid })
    toValueSync(liquid.renderer.renderTemplates(parseBounded(template), context, output))
  } catch (error) {
    const message = `The template cannot be rendered: ${describeFailure(error)}`
    throw new AppError('invalid_body', message, { cause: error })
  }
  return output.buffer
}

/**
 * What is wrong with a template, in plain words with line and column; empty for one that may be
 * published. Finds broken syntax, tags and filters that are not allowed, unknown variables, and
 * templates that are too long.
 */
export function parseTemplateProblems(template: string): readonly string[] {
  try {
    return listUnknownVariables(parseBounded(template)).map(
      (name) =>
        `Unknown variable "${name}"; templates may read ${TEMPLATE_VARIABLE_ROOTS.join(', ')}.`,
    )
  } catch (error) {
    return [describeFailure(error)]
  }
}

/**
 * What a template reads, each as the names that lead to it: `['issue', 'value', 'path']`. What is reached by a
 * computed name ends before it.
 *
 * @throws AppError `invalid_body` for a template that does not parse
 */
export function listTemplateVariables(template: string): readonly (readonly string[])[] {
  try {
    const { globals } = liquid.analyzeSync(parseBounded(template), { partials: false })
    const paths = Object.values(globals).flatMap((uses) =>
      uses.map(({ segments }) => {
        const end = segments.findIndex((segment) => typeof segment !== 'string')
        return segments.slice(0, end === -1 ? undefined : end).map(String)
      }),
    )
    return [...new Map(paths.map((path) => [path.join('\n'), path])).values()]
  } catch (error) {
    const message = `The template cannot be read: ${describeFailure(error)}`
    throw new AppError('invalid_body', message, { cause: error })
  }
}

function createRestrictedLiquid(): Liquid {
  const restricted = new Liquid({
    strictFilters: true,
    strictVariables: false,
    ownPropertyOnly: true,
    dynamicPartials: false,
    relativeReference: false,
    templates: {},
    timezoneOffset: 0,
    locale: 'en-GB',
    renderLimit: RENDER_MS_MAX,
    memoryLimit: RENDER_MEMORY_MAX,
    parseLimit: TEMPLATE_LENGTH_MAX,
    outputEscape: escapeMarkdown,
  })
  for (const name of Object.keys(restricted.tags)) {
    if (!ALLOWED_TAGS.has(name)) Reflect.deleteProperty(restricted.tags, name)
  }
  for (const name of Object.keys(restricted.filters)) {
    if (!ALLOWED_FILTERS.has(name)) Reflect.deleteProperty(restricted.filters, name)
  }
  restricted.registerFilter('code', { raw: true, handler: toCodeSpan })
  return restricted
}

function parseBounded(template: string): Template[] {
  if (template.length > TEMPLATE_LENGTH_MAX) {
    throw new RangeError(`the template is longer than ${TEMPLATE_LENGTH_MAX} characters`)
  }
  return liquid.parse(template)
}

function listUnknownVariables(templates: Template[]): string[] {
  const roots = new Set<string>(TEMPLATE_VARIABLE_ROOTS)
  return liquid.globalVariablesSync(templates).filter((name) => !roots.has(name))
}

function describeFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.split('\n', 1)[0] ?? message
}

class BoundedEmitter implements Emitter {
  buffer = ''

  write(html: unknown): void {
    this.buffer += typeof html === 'string' ? html : escapeMarkdown(html)
    if (this.buffer.length > RENDERED_LENGTH_MAX) {
      throw new RangeError(`the text is longer than ${RENDERED_LENGTH_MAX} characters`)
    }
  }
}
